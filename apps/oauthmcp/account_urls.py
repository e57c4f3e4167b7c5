"""Every address under /account/clients/."""

from django.urls import path
from django.views.decorators.cache import never_cache

from apps.oauthmcp import clients

# no-store: what is on these pages must not stay in a shared browser.
urlpatterns = [
    path("", never_cache(clients.clients), name="account_clients"),
    path("<uuid:id>/revoke/", never_cache(clients.revoke), name="account_client_revoke"),
]
