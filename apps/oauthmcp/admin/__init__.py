"""The admin of clients, authorizations, codes and tokens.

django-oauth-toolkit registers the classes that the settings name; Authorization and ScriptToken are models of our own.
"""

from apps.oauthmcp.admin.authorizations import AuthorizationAdmin
from apps.oauthmcp.admin.clients import ApplicationAdmin
from apps.oauthmcp.admin.script_tokens import ScriptTokenAdmin
from apps.oauthmcp.admin.tokens import AccessTokenAdmin, GrantAdmin, IDTokenAdmin, RefreshTokenAdmin

__all__ = [
    "AccessTokenAdmin",
    "ApplicationAdmin",
    "AuthorizationAdmin",
    "GrantAdmin",
    "IDTokenAdmin",
    "RefreshTokenAdmin",
    "ScriptTokenAdmin",
]
