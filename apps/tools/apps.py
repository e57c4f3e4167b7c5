"""The tools application. It has no rows of its own."""

from django.apps import AppConfig


class ToolsConfig(AppConfig):
    name = "apps.tools"
    label = "tools"

    def ready(self) -> None:
        from apps.tools.mcp.errors import respond_rpc
        from apps.web import surfaces
        from apps.web.errors import respond

        surfaces.add(surfaces.Surface("api", respond), prefixes=("/api/v1/",))
        surfaces.add(surfaces.Surface("api description", respond, any_origin=True), paths=("/api/v1/openapi.json",))
        pages = ("/api/v1/docs", "/api/v1/docs/signed-in")
        surfaces.add(surfaces.Surface("api reference", respond, is_page=True), paths=pages)
        surfaces.add(surfaces.Surface("mcp", respond_rpc), paths=("/mcp", "/mcp/"))
