"""The client that tokens for scripts are authorizations of: it has no secret and no address, so nobody can be it."""

from typing import Any

from django.db import migrations
from django.utils import timezone

CLIENT_ID = "porthole-scripts"


def make_client(apps: Any, schema_editor: Any) -> None:
    apps.get_model("oauthmcp", "Application").objects.update_or_create(
        client_id=CLIENT_ID,
        defaults={
            "name": "Tokens for scripts",
            "client_type": "confidential",
            "authorization_grant_type": "authorization-code",
            "token_endpoint_auth_method": "client_secret_basic",
            "metadata": {"grant_types": []},
            "authorized_at": timezone.now(),
        },
    )


def drop_client(apps: Any, schema_editor: Any) -> None:
    apps.get_model("oauthmcp", "Application").objects.filter(client_id=CLIENT_ID).delete()


class Migration(migrations.Migration):
    dependencies = [("oauthmcp", "0006_script_tokens")]

    operations = [migrations.RunPython(make_client, drop_client)]
