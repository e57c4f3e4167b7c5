"""The orgs application: organizations and everything that belongs to one."""

from django.apps import AppConfig
from django.conf import settings
from django.db.backends.signals import connection_created
from django.db.models.signals import post_migrate


class OrgsConfig(AppConfig):
    name = "apps.orgs"
    label = "orgs"
    verbose_name = "Organizations"

    def ready(self) -> None:
        from apps.orgs.models.judged import facts_changed
        from apps.orgs.search_indexes import add_indexes
        from apps.orgs.timetables import on_facts_changed  # models exist by now

        facts_changed.connect(on_facts_changed)
        post_migrate.connect(add_indexes, sender=self)
        if settings.DATABASES["default"]["ENGINE"] == "apps.orgs.postgresql":
            from apps.orgs.postgresql import register_loaders  # psycopg is not needed on SQLite

            connection_created.connect(register_loaders)
