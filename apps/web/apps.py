"""The web application: static files, and the surface of every path that no other application adds."""

from django.apps import AppConfig


class WebConfig(AppConfig):
    name = "apps.web"
    label = "web"

    def ready(self) -> None:
        from apps.web import surfaces
        from apps.web.errors import respond_with_page

        surfaces.add(surfaces.Surface("page", respond_with_page, is_page=True, needs_https=False), prefixes=("",))
        probe = surfaces.Surface("probe", respond_with_page, needs_https=False)
        surfaces.add(probe, prefixes=("/healthz", "/readyz"))
