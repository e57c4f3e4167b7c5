"""Takes allauth's own lists out of the admin: they show the secrets of second factors, and addresses we do not use.

Django reads this after allauth's, because allauth stands before it in INSTALLED_APPS.
"""

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from django.contrib import admin

admin.site.unregister([EmailAddress, Authenticator])
