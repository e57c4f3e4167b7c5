"""The oauthmcp application."""

from django.apps import AppConfig


class OAuthMcpConfig(AppConfig):
    name = "apps.oauthmcp"
    label = "oauthmcp"
    verbose_name = "Access"

    def ready(self) -> None:
        from apps.jobs import scheduling
        from apps.oauthmcp.errors import respond_to
        from apps.web import surfaces
        from apps.web.errors import respond_with_page

        # Registration, tokens and revocation; the authorization endpoint is a page.
        surfaces.add(surfaces.Surface("oauth", respond_to, any_origin=True), prefixes=("/api/auth/",))
        authorize = surfaces.Surface("authorize", respond_with_page, is_page=True)
        surfaces.add(authorize, prefixes=("/api/auth/mcp/authorize",))
        metadata = surfaces.Surface("metadata", respond_with_page, any_origin=True, needs_https=False)
        surfaces.add(metadata, prefixes=("/.well-known/", "/api/auth/.well-known/"))

        scheduling.every("prune:tokens", "apps.oauthmcp.tasks.prune", scheduling.DAY)
