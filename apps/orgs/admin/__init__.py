"""What operators see: every organization and everything it owns, one file per theme.

Django finds this package by its name; importing the modules registers what is in them.
"""

from django.contrib import admin

from apps.orgs.admin import deployments, invitations, names, organizations, people, projects, templates

__all__ = ["deployments", "invitations", "names", "organizations", "people", "projects", "templates"]

admin.site.site_header = "Porthole operators"
admin.site.site_title = "Porthole operators"
admin.site.index_title = "Organizations and what they own"
admin.site.empty_value_display = "–"
