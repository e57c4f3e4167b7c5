"""Registers the rules about settings."""

from django.apps import AppConfig


class PortholeConfig(AppConfig):
    name = "config"
    verbose_name = "Porthole"

    def ready(self) -> None:
        from config import checks  # noqa: F401  (importing registers them; models are loaded only now)
