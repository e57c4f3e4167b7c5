"""Platforms: the sources of synced rows, and the status of their last sync."""

from django.contrib import admin

from apps.orgs.admin.finding import OrganizationFilter
from apps.orgs.admin.readonly import ListAdmin, ReadOnlyAdminMixin
from apps.orgs.models import Platform


@admin.register(Platform)
class PlatformAdmin(ReadOnlyAdminMixin, ListAdmin):
    list_display = ("__str__", "organization", "last_sync_status", "last_sync_at", "version")
    list_select_related = ("organization",)
    list_filter = (OrganizationFilter,)
    ordering = ("id",)
    fields = ("organization", "kind", "name", "version", "last_sync_status", "last_sync_at", "sync_period")
