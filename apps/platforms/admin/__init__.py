"""What operators see of platforms, and of the templates that come from them."""

from apps.platforms.admin import platforms, templates

__all__ = ["platforms", "templates"]
