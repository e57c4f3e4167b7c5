"""What operators see of people and organizations, and the pages that need several of the other applications.

Of allauth's own lists there is nothing: they show the secrets of second factors, and addresses that we do not use.
Django reads this after allauth's, because allauth stands before it in INSTALLED_APPS.
"""

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from django.contrib import admin

from apps.accounts.admin import invitations, organizations, people

__all__ = ["invitations", "organizations", "people"]

admin.site.unregister([EmailAddress, Authenticator])
