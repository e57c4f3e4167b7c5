"""Codes are kept for thirty days after they were redeemed: authorizations of that time get their redirect URIs."""

from typing import Any

from django.db import migrations
from django.db.models import OuterRef, Subquery


def fill(apps: Any, schema_editor: Any) -> None:
    code = apps.get_model("oauthmcp", "Grant").objects.filter(authorization_id=OuterRef("pk")).order_by("pk")
    authorizations = apps.get_model("oauthmcp", "Authorization").objects
    redeemed = apps.get_model("oauthmcp", "Grant").objects.filter(authorization__isnull=False)
    authorizations.filter(redirect_uri="", pk__in=redeemed.values("authorization_id")).update(
        redirect_uri=Subquery(code.values("redirect_uri")[:1])
    )


class Migration(migrations.Migration):
    dependencies = [("oauthmcp", "0008_authorization_redirect_uri")]

    operations = [migrations.RunPython(fill, migrations.RunPython.noop)]
