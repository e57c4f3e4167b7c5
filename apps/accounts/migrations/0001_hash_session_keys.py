"""Sessions are found by the hash of their key: those there are stay what they are, and nobody is signed out."""

import base64
import hashlib

from django.db import migrations


def hash_keys(apps, schema_editor):
    sessions = apps.get_model("sessions", "Session").objects
    for key in list(sessions.values_list("session_key", flat=True)):
        hashed = base64.urlsafe_b64encode(hashlib.sha256(key.encode()).digest()).decode()[:40]
        sessions.filter(session_key=key).update(session_key=hashed)


def end_all(apps, schema_editor):
    """Nobody can tell the keys any more."""
    apps.get_model("sessions", "Session").objects.all().delete()


class Migration(migrations.Migration):
    dependencies = [("sessions", "0001_initial")]
    operations = [migrations.RunPython(hash_keys, end_all)]
