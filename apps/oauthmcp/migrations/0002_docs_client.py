"""The public client behind "Authorize" on /api/v1/docs: ours, so it is there from the start."""

from django.db import migrations

CLIENT_ID = "porthole-docs"


def make_client(apps, schema_editor):
    apps.get_model("oauthmcp", "Application").objects.update_or_create(
        client_id=CLIENT_ID,
        defaults={
            "name": "Porthole's API documentation",
            "client_type": "public",
            "authorization_grant_type": "authorization-code",
            "token_endpoint_auth_method": "none",
        },
    )


def drop_client(apps, schema_editor):
    apps.get_model("oauthmcp", "Application").objects.filter(client_id=CLIENT_ID).delete()


class Migration(migrations.Migration):
    dependencies = [("oauthmcp", "0001_initial")]

    operations = [migrations.RunPython(make_client, drop_client)]
