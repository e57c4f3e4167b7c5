"""The oauthmcp application."""

from django.apps import AppConfig


class OAuthMcpConfig(AppConfig):
    name = "apps.oauthmcp"
    label = "oauthmcp"
    verbose_name = "Access"

    def ready(self) -> None:
        from django.db.models.signals import post_save, pre_delete

        from apps.jobs import scheduling
        from apps.oauthmcp import models
        from apps.oauthmcp.errors import respond_to
        from apps.oauthmcp.script_tokens.ending import end_forbidden
        from apps.orgs.models import Organization
        from apps.web import surfaces
        from apps.web.errors import respond_with_page

        # Registration, tokens and revocation; the authorization endpoint is a page.
        surfaces.add(surfaces.Surface("oauth", respond_to, any_origin=True), prefixes=("/api/auth/",))
        authorize = surfaces.Surface("authorize", respond_with_page, is_page=True)
        surfaces.add(authorize, prefixes=("/api/auth/mcp/authorize",))
        metadata = surfaces.Surface("metadata", respond_with_page, any_origin=True, needs_https=False)
        surfaces.add(metadata, prefixes=("/.well-known/", "/api/auth/.well-known/"))

        post_save.connect(end_forbidden, sender=Organization, dispatch_uid="apps.oauthmcp.script_tokens")
        pre_delete.connect(models.keep_built_in, sender=models.Application, dispatch_uid="apps.oauthmcp.built_in")

        scheduling.every("prune:tokens", "apps.oauthmcp.tasks.prune", scheduling.DAY)
        scheduling.every("remind:script-tokens", "apps.oauthmcp.tasks.remind", scheduling.DAY)
