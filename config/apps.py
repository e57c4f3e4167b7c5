"""Registers the rules about settings, and closes files to others."""

from django.apps import AppConfig
from django.conf import settings

from config import files


class PortholeConfig(AppConfig):
    name = "config"
    verbose_name = "Porthole"

    def ready(self) -> None:
        from config import checks  # noqa: F401  (importing registers them; models are loaded only now)

        files.narrow(settings.DATA_DIR, settings.DATABASES["default"])
