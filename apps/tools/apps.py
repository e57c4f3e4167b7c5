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
        surfaces.add(surfaces.Surface("api", respond, is_call=True), prefixes=("/api/v1/tools/",))
        description = surfaces.Surface("api description", respond, any_origin=True, needs_https=False)
        surfaces.add(description, paths=("/api/v1/openapi.json",))
        reference = surfaces.Surface("api reference", respond, is_page=True, needs_https=False)
        surfaces.add(reference, paths=("/api/v1/docs",))
        # The address of this page carries a code.
        signed_in = surfaces.Surface("api reference", respond, is_page=True)
        surfaces.add(signed_in, paths=("/api/v1/docs/signed-in",))
        surfaces.add(surfaces.Surface("mcp", respond_rpc, is_call=True), paths=("/mcp", "/mcp/"))
