"""The parts of openapi.json about OAuth: its endpoints and the security scheme of tools.

config/openapi.py composes this with the parts of other apps.
"""

from typing import Any

from apps.orgs.callers import SCOPES
from apps.web.openapi import ALLOW, RETRY_AFTER, list_of, object_of, one_of, text

PREFIX = "/api/auth/mcp/"
TAG = {
    "name": "oauth",
    "description": "OAuth 2.1 authorization server: authorization code with PKCE, and refresh tokens.",
}


def security_scheme(server: str) -> dict[str, Any]:
    """The security scheme, with the endpoints of the installation at `server`."""
    return {
        "type": "oauth2",
        "description": "Authorization code with PKCE: sign in, choose an organization and grant scopes. Scripts and "
        "build pipelines send a token that a member makes at `/account/tokens/` in the same way.",
        "flows": {
            "authorizationCode": {
                "authorizationUrl": f"{server}{PREFIX}authorize",
                "tokenUrl": f"{server}{PREFIX}token",
                "refreshUrl": f"{server}{PREFIX}token",
                "scopes": SCOPES,
            }
        },
    }


CLOSED = {"additionalProperties": False}
CLIENT_ID = text("The client identifier.", 255)
SCOPE = text("Space-separated scopes. Unknown ones are ignored.")
RESOURCE = text("Resource indicator (RFC 8707): this installation's address, or that with `/mcp` or `/api/v1`.")
REDIRECT_URI = text(
    "https; http for 127.0.0.1, [::1] and localhost; or a private-use scheme, such as `com.example.app:/done`.", 2000
)
AUTH_METHOD = one_of(
    "Client authentication method of the token endpoint: `none` for public clients, HTTP Basic, or the secret in the "
    "body. Default of a registration: `client_secret_basic`.",
    "none",
    "client_secret_basic",
    "client_secret_post",
)
SECRET = text("The client secret, unless HTTP Basic is used.")
METADATA: dict[str, Any] = {
    "redirect_uris": list_of(REDIRECT_URI, "Redirect URIs.", minItems=1, maxItems=10),
    "client_name": text("Name shown on the consent page.", 100),
    "token_endpoint_auth_method": AUTH_METHOD,
    "grant_types": list_of(text("A grant type.", 100), "`authorization_code`, and `refresh_token` for refresh tokens."),
    "response_types": list_of(text("A response type.", 100), "`code`."),
    "scope": text("Space-separated scopes that the client may request.", 1000),
    "client_uri": text("URL of the client's home page; https.", 2000),
    "logo_uri": text("URL of its logo; https. Stored, never shown.", 2000),
    "tos_uri": text("URL of its terms of service; https.", 2000),
    "policy_uri": text("URL of its privacy policy; https.", 2000),
    "software_id": text("Identifier of the software, the same for all its instances.", 255),
    "software_version": text("Version of the software.", 255),
    "application_type": one_of("Web or native application.", "web", "native"),
}
STORED = ("redirect_uris", "token_endpoint_auth_method", "grant_types", "response_types")  # registered in any case
SCHEMAS: dict[str, Any] = {
    "OAuthError": object_of(
        {
            "error": text("Error code, such as `invalid_grant`.", 100),
            "error_description": text("Human-readable description.", 1000),
        },
        ["error"],
        "Error response (RFC 6749 §5.2).",
        **CLOSED,
    ),
    "ClientRegistration": object_of(
        METADATA, ["redirect_uris"], "Client metadata (RFC 7591 §2). Unknown members are ignored."
    ),
    "ClientInformation": object_of(
        {
            "client_id": CLIENT_ID,
            "client_id_issued_at": {"type": "integer", "description": "Time of issue, in seconds since 1970."},
            "client_secret": text("The client secret, of confidential clients. Shown only here.", 255),
            "client_secret_expires_at": {"type": "integer", "description": "0: the secret does not expire."},
            **METADATA,
        },
        ["client_id", "client_id_issued_at", *STORED],
        "Client information response (RFC 7591 §3.2.1). Omitted metadata is left out.",
        **CLOSED,
    ),
    "TokenRequest": object_of(
        {
            "grant_type": one_of("The grant type.", "authorization_code", "refresh_token"),
            "code": text("For `authorization_code`: the authorization code."),
            "code_verifier": text("For `authorization_code`: the code verifier (RFC 7636 §4.1)."),
            "redirect_uri": text("For `authorization_code`: as in the authorization request; optional.", 2000),
            "refresh_token": text("For `refresh_token`: the latest refresh token."),
            "client_id": CLIENT_ID,
            "client_secret": SECRET,
            "scope": text("For `refresh_token`: a space-separated subset of the granted scopes."),
            "resource": RESOURCE,
        },
        ["grant_type"],
        "Access token request (RFC 6749 §4.1.3, §6).",
    ),
    "TokenResponse": object_of(
        {
            "access_token": text("The access token; send it as `Authorization: Bearer …`.", 255),
            "token_type": one_of("The token type.", "Bearer"),
            "expires_in": {"type": "integer", "description": "Lifetime in seconds."},
            "refresh_token": text("The refresh token. Rotated on each use: keep the latest.", 255),
            "scope": text("The granted scopes, which may be fewer than requested.", 200),
        },
        ["access_token", "token_type", "expires_in", "scope"],
        "Access token response (RFC 6749 §5.1).",
        **CLOSED,
    ),
    "Nothing": object_of({}, [], "An empty object.", **CLOSED),
    "RevocationRequest": object_of(
        {
            "token": text("An access token or a refresh token."),
            "token_type_hint": text("`access_token` or `refresh_token`; optional."),
            "client_id": CLIENT_ID,
            "client_secret": SECRET,
        },
        ["token"],
        "Revocation request (RFC 7009 §2.1).",
    ),
}

_CHALLENGE = {
    "WWW-Authenticate": {"description": "To a client that sent `Authorization: Basic …`.", "schema": {"type": "string"}}
}
_ERRORS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "400": ("invalid_request", "The request is invalid; see `error`.", {}),
    "401": ("invalid_client", "Client authentication failed.", _CHALLENGE),
    "405": ("invalid_request", "Only POST is allowed.", ALLOW),
    "411": ("invalid_request", "Content-Length is required.", {}),
    "413": ("invalid_request", "The body is over 16 KiB.", {}),
    "429": ("temporarily_unavailable", "Too many requests from this address.", RETRY_AFTER),
    "500": ("server_error", "Internal error; quote the request id.", {}),
    "503": ("temporarily_unavailable", "The database cannot be reached.", RETRY_AFTER),
}
JSON = "application/json"
# Clients that openapi-python-client makes send a form in any case, under the type that comes last; and they do not
# load where one of two bodies is required, so that is only said by the schema.
EITHER = (JSON, "application/x-www-form-urlencoded")
PAGE = {"text/html": {"schema": {"type": "string"}}}


def _schema(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}


def _error(status: str, word: str | None = None) -> dict[str, Any]:
    usual, description, headers = _ERRORS[status]
    example = {"error": word or usual, "error_description": description}
    return _answer("OAuthError", description, example, **({"headers": headers} if headers else {}))


def _body(name: str, example: dict[str, Any], *media_types: str) -> dict[str, Any]:
    content = {media_type: {"schema": _schema(name), "example": example} for media_type in media_types}
    return {"content": content} if len(content) > 1 else {"required": True, "content": content}


def _answer(name: str, description: str, example: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"description": description, "content": {JSON: {"schema": _schema(name), "example": example}}, **more}


def _operation(id: str, summary: str, more: str, **parts: Any) -> dict[str, Any]:
    # Clients authenticate by id and secret, users by their session: no bearer token.
    described = {"operationId": id, "summary": summary, "description": f"{summary} {more}", "tags": ["oauth"]}
    return described | parts | {"security": []}


def _parameter(name: str, schema: dict[str, Any], required: bool = False) -> dict[str, Any]:
    return {"name": name, "in": "query", "required": required, "schema": schema}


_REGISTRATION = {
    "client_name": "Deploy watcher",
    "redirect_uris": ["http://127.0.0.1/callback"],
    "token_endpoint_auth_method": "none",
}
_INFORMATION = {
    "client_id": "5Xo0dD9iYkfnyGZ4",
    "client_id_issued_at": 1790000000,
    **_REGISTRATION,
    "grant_types": ["authorization_code", "refresh_token"],
    "response_types": ["code"],
}
_TOKEN_REQUEST = {
    "grant_type": "authorization_code",
    "client_id": "5Xo0dD9iYkfnyGZ4",
    "code": "the-code",
    "code_verifier": "the-43-to-128-characters-that-the-client-made-up",
    "redirect_uri": "http://127.0.0.1:8123/callback",
}
_TOKEN = {
    "access_token": "porthole_at_…",
    "token_type": "Bearer",
    "expires_in": 3600,
    "refresh_token": "porthole_rt_…",
    "scope": "account:read apps:read",
}

_REGISTER = _operation(
    "register_client",
    "Register a client.",
    "Dynamic client registration (RFC 7591), open to everybody. A client that is never authorized is deleted after "
    "30 days.",
    requestBody=_body("ClientRegistration", _REGISTRATION, JSON),
    responses={
        "201": _answer("ClientInformation", "The client, with its id.", _INFORMATION),
        "400": _error("400", "invalid_client_metadata"),
        **{status: _error(status) for status in ("405", "411", "413", "429", "500", "503")},
    },
)
_AUTHORIZE = _operation(
    "authorize",
    "Request authorization.",
    "Open this in a browser: it is a page, not a call. The user signs in, chooses an organization and grants scopes. "
    "The browser is redirected to `redirect_uri` with `code`, `state` and `iss`, or with `error`, `state` and `iss` "
    "(RFC 6749 §4.1, RFC 9207). The code is valid for 60 seconds. An error that no user clicked for is shown on a page "
    "instead, where `redirect_uri` is a website that the user has not authorized before (RFC 9700 §4.11.2).",
    parameters=[
        _parameter("response_type", one_of("The response type.", "code"), required=True),
        _parameter("client_id", CLIENT_ID, required=True),
        _parameter("redirect_uri", REDIRECT_URI | {"description": "A registered redirect URI."}),
        _parameter("scope", SCOPE | {"description": "Space-separated scopes. Default: all."}),
        _parameter("state", text("Returned unchanged.")),
        _parameter(
            "code_challenge",
            text("SHA-256 of code_verifier in base64url (RFC 7636 §4.2).", 43, pattern="^[A-Za-z0-9_-]{43}$"),
            required=True,
        ),
        _parameter("code_challenge_method", one_of("The code challenge method.", "S256"), required=True),
        _parameter("resource", RESOURCE),
        _parameter("prompt", text("`none`: ask for nothing, which always ends in an error, as consent is required.")),
    ],
    responses={
        "200": {"description": "The consent page.", "content": PAGE},
        "302": {"description": "Redirect to the sign-in page."},
        "303": {
            "description": "Redirect to `redirect_uri`.",
            "headers": {
                "Location": {
                    "description": "The authorization response.",
                    "required": True,
                    "schema": {"type": "string"},
                }
            },
        },
        "400": {
            "description": "A page: the client or its redirect_uri is unknown, or is not redirected to unasked.",
            "content": PAGE,
        },
    },
)
_ISSUE = _operation(
    "issue_token",
    "Exchange a code or a refresh token for an access token.",
    "An access token is valid for an hour. Refresh tokens are rotated on each use and expire after 30 days without "
    "use (RFC 6749 §3.2). Send a form, as in the RFCs, or the same as JSON.",
    requestBody=_body("TokenRequest", _TOKEN_REQUEST, *EITHER),
    responses={
        "200": _answer("TokenResponse", "An access token.", _TOKEN),
        "400": _error("400", "invalid_grant"),
        **{status: _error(status) for status in ("401", "405", "411", "413", "429", "500", "503")},
    },
)
_REVOKE = _operation(
    "revoke_token",
    "Revoke a token.",
    "All tokens of the same authorization are revoked. The response is the same whether or not the token existed "
    "(RFC 7009).",
    requestBody=_body("RevocationRequest", {"token": "porthole_rt_…", "client_id": "5Xo0dD9iYkfnyGZ4"}, *EITHER),
    responses={
        "200": _answer("Nothing", "Revoked. The body is empty (RFC 7009 §2.2).", {}),
        **{status: _error(status) for status in ("400", "401", "405", "411", "413", "429", "500", "503")},
    },
)
PATHS: dict[str, Any] = {
    f"{PREFIX}register": {"post": _REGISTER},
    f"{PREFIX}authorize": {"get": _AUTHORIZE},
    f"{PREFIX}token": {"post": _ISSUE},
    f"{PREFIX}revoke": {"post": _REVOKE},
}
