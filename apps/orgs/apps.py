"""The orgs application: organizations and everything that belongs to one."""

from django.apps import AppConfig
from django.conf import settings
from django.db.backends.signals import connection_created


class OrgsConfig(AppConfig):
    name = "apps.orgs"
    label = "orgs"
    verbose_name = "Organizations"

    def ready(self) -> None:
        from apps.orgs.models.judged import facts_changed
        from apps.orgs.timetables import on_facts_changed  # models exist by now

        facts_changed.connect(on_facts_changed)
        if settings.DATABASES["default"]["ENGINE"] == "apps.orgs.postgresql":
            from apps.orgs.postgresql import register_loaders  # psycopg is not needed on SQLite

            connection_created.connect(register_loaders)
