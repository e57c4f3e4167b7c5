"""The parts of openapi.json about getting a token: the OAuth endpoints, and how a tool's call is let in.

Names are the RFCs' own. config/openapi.py puts this beside what the tools say of themselves.
"""

from typing import Any

from apps.orgs.callers import SCOPES
from apps.web.openapi import ALLOW, WAIT

PREFIX = "/api/auth/mcp/"
TAG = {
    "name": "oauth",
    "description": "Get a token, as a program that acts for a person (OAuth 2.1). Most OAuth libraries do all of it.",
}


def security_scheme(server: str) -> dict[str, Any]:
    """How a program gets a token from the installation at `server`."""
    return {
        "type": "oauth2",
        "description": "Sign in with your account, choose an organization, and say what may be read.",
        "flows": {
            "authorizationCode": {
                "authorizationUrl": f"{server}{PREFIX}authorize",
                "tokenUrl": f"{server}{PREFIX}token",
                "refreshUrl": f"{server}{PREFIX}token",
                "scopes": SCOPES,
            }
        },
    }


def _text(description: str, length: int = 4096, **more: Any) -> dict[str, Any]:
    return {"type": "string", "maxLength": length, "description": description, **more}


def _one_of(description: str, *values: str) -> dict[str, Any]:
    return {"type": "string", "enum": list(values), "description": description}


def _list_of(item: dict[str, Any], description: str, **more: Any) -> dict[str, Any]:
    return {"type": "array", "items": item, "description": description, **more}


def _object(properties: dict[str, Any], required: list[str], description: str, **more: Any) -> dict[str, Any]:
    return {"type": "object", "description": description, "properties": properties, "required": required, **more}


CLOSED = {"additionalProperties": False}
CLIENT_ID = _text("Which client this is.", 255)
SCOPE = _text("Scopes, with a space between two. Those that are unknown here are left out.")
RESOURCE = _text("What the token is for: this installation's address, or that with `/mcp` or `/api/v1`.")
REDIRECT_URI = _text("https; http for 127.0.0.1, [::1] and localhost; or an app's `com.example.app:/done`.", 2000)
AUTH_METHOD = _one_of(
    "How the client says who it is: `none` (only its id), with its secret in the header `Authorization: Basic …`, "
    "or with its secret in the body. In a registration that does not say, `client_secret_basic`.",
    "none",
    "client_secret_basic",
    "client_secret_post",
)
SECRET = _text("The client's secret, where it has one and does not send it as `Authorization: Basic …`.")
METADATA: dict[str, Any] = {
    "redirect_uris": _list_of(REDIRECT_URI, "Where browsers may be sent.", minItems=1, maxItems=10),
    "client_name": _text("What people read when it asks to be let in.", 100),
    "token_endpoint_auth_method": AUTH_METHOD,
    "grant_types": _list_of(
        _text("A grant type.", 100), "`authorization_code`, and `refresh_token` to stay signed in."
    ),
    "response_types": _list_of(_text("A response type.", 100), "`code`."),
    "scope": _text("Scopes that it will ask for, with a space between two.", 1000),
    "client_uri": _text("Address of a page about it; https.", 2000),
    "logo_uri": _text("Address of its picture; https. Kept, never shown.", 2000),
    "tos_uri": _text("Address of its terms; https.", 2000),
    "policy_uri": _text("Address of its privacy policy; https.", 2000),
    "software_id": _text("The same for all copies of a program.", 255),
    "software_version": _text("Its version.", 255),
    "application_type": _one_of("A program on a web server, or one on the user's own device.", "web", "native"),
}
STORED = ("redirect_uris", "token_endpoint_auth_method", "grant_types", "response_types")  # whether it said so or not
SCHEMAS: dict[str, Any] = {
    "OAuthError": _object(
        {
            "error": _text("What is wrong, for programs: a word of the RFCs, such as `invalid_grant`.", 100),
            "error_description": _text("What is wrong, as a sentence.", 1000),
        },
        ["error"],
        "How the OAuth endpoints say what is wrong (RFC 6749 §5.2).",
        **CLOSED,
    ),
    "ClientRegistration": _object(
        METADATA, ["redirect_uris"], "What a client says of itself (RFC 7591 §2). Members that are unknown are ignored."
    ),
    "ClientInformation": _object(
        {
            "client_id": CLIENT_ID,
            "client_id_issued_at": {"type": "integer", "description": "When, in seconds since 1970."},
            "client_secret": _text("Told this once, and only to a client that asked for one.", 255),
            "client_secret_expires_at": {"type": "integer", "description": "0: the secret does not expire."},
            **METADATA,
        },
        ["client_id", "client_id_issued_at", *STORED],
        "A registered client (RFC 7591 §3.2.1). What it did not say is left out.",
        **CLOSED,
    ),
    "TokenRequest": _object(
        {
            "grant_type": _one_of("What is given for the token.", "authorization_code", "refresh_token"),
            "code": _text("For `authorization_code`: the code that the browser brought back."),
            "code_verifier": _text("For `authorization_code`: what code_challenge was made of (RFC 7636 §4.1)."),
            "redirect_uri": _text("For `authorization_code`: the one of the authorization request, or none.", 2000),
            "refresh_token": _text("For `refresh_token`: the newest one."),
            "client_id": CLIENT_ID,
            "client_secret": SECRET,
            "scope": _text("For `refresh_token`: fewer scopes than before, with a space between two."),
            "resource": RESOURCE,
        },
        ["grant_type"],
        "A code or a refresh token (RFC 6749 §4.1.3, §6).",
    ),
    "TokenResponse": _object(
        {
            "access_token": _text("Send it to the tools as `Authorization: Bearer …`.", 255),
            "token_type": _one_of("How it is sent.", "Bearer"),
            "expires_in": {"type": "integer", "description": "Seconds until it opens nothing any more."},
            "refresh_token": _text("For the next token. Each is for one use: keep the one of the latest answer.", 255),
            "scope": _text("What the token may read. It can be less than was asked for.", 200),
        },
        ["access_token", "token_type", "expires_in", "scope"],
        "A token (RFC 6749 §5.1).",
        **CLOSED,
    ),
    "Nothing": _object({}, [], "An empty object.", **CLOSED),
    "RevocationRequest": _object(
        {
            "token": _text("An access token or a refresh token."),
            "token_type_hint": _text("`access_token` or `refresh_token`; it may be left out."),
            "client_id": CLIENT_ID,
            "client_secret": SECRET,
        },
        ["token"],
        "A token that is given back (RFC 7009 §2.1).",
    ),
}

_CHALLENGE = {
    "WWW-Authenticate": {"description": "To a client that sent `Authorization: Basic …`.", "schema": {"type": "string"}}
}
_ERRORS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "400": ("invalid_request", "Something about the request is wrong; `error` says what.", {}),
    "401": ("invalid_client", "There is no such client, or its secret is another one.", _CHALLENGE),
    "405": ("invalid_request", "It is called with POST.", ALLOW),
    "411": ("invalid_request", "The body came in chunks, without a length.", {}),
    "413": ("invalid_request", "The body is over 16 KiB.", {}),
    "429": ("temporarily_unavailable", "Too many requests from this address.", WAIT),
    "500": ("server_error", "Something went wrong here; only the request id tells.", {}),
    "503": ("temporarily_unavailable", "The database cannot be reached.", WAIT),
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
    # Who is let in here is told by the client's own id and secret, or by the person at the browser: by no token.
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
    "A program does this once, before it sends somebody to sign in for the first time (RFC 7591). Anybody may; a "
    "client that nobody lets in is forgotten after 30 days.",
    requestBody=_body("ClientRegistration", _REGISTRATION, JSON),
    responses={
        "201": _answer("ClientInformation", "The client, with its id.", _INFORMATION),
        "400": _error("400", "invalid_client_metadata"),
        **{status: _error(status) for status in ("405", "411", "413", "429", "500", "503")},
    },
)
_AUTHORIZE = _operation(
    "authorize",
    "Ask a person to let a client in.",
    "Open this in a browser: it is a page, not a call. The person signs in, chooses an organization and what may be "
    "read. Then the browser goes to `redirect_uri` with `code`, `state` and `iss`, or with `error`, `state` and `iss` "
    "(RFC 6749 §4.1, RFC 9207). Redeem the code within 60 seconds.",
    parameters=[
        _parameter("response_type", _one_of("What comes back.", "code"), required=True),
        _parameter("client_id", CLIENT_ID, required=True),
        _parameter("redirect_uri", REDIRECT_URI | {"description": "One that the client has registered."}),
        _parameter("scope", SCOPE | {"description": "Scopes, with a space between two. All, if it is left out."}),
        _parameter("state", _text("Comes back unchanged.")),
        _parameter(
            "code_challenge",
            _text("SHA-256 of code_verifier in base64url (RFC 7636 §4.2).", 43, pattern="^[A-Za-z0-9_-]{43}$"),
            required=True,
        ),
        _parameter("code_challenge_method", _one_of("How it was made.", "S256"), required=True),
        _parameter("resource", RESOURCE),
        _parameter("prompt", _text("`none`: show no page. Without a page nobody is let in here.")),
    ],
    responses={
        "200": {"description": "The page on which the person decides.", "content": PAGE},
        "302": {"description": "To the page where the person signs in."},
        "303": {
            "description": "Back to `redirect_uri`.",
            "headers": {
                "Location": {"description": "With what came of it.", "required": True, "schema": {"type": "string"}}
            },
        },
        "400": {
            "description": "A page: the client or its redirect_uri is unknown, so nobody is sent.",
            "content": PAGE,
        },
    },
)
_ISSUE = _operation(
    "issue_token",
    "Get a token for a code or a refresh token.",
    "An access token opens the tools for an hour. A refresh token gives the next one and is itself replaced; unused, "
    "it lasts 30 days (RFC 6749 §3.2). Send a form, as the RFCs say, or the same as JSON.",
    requestBody=_body("TokenRequest", _TOKEN_REQUEST, *EITHER),
    responses={
        "200": _answer("TokenResponse", "A token.", _TOKEN),
        "400": _error("400", "invalid_grant"),
        **{status: _error(status) for status in ("401", "405", "411", "413", "429", "500", "503")},
    },
)
_REVOKE = _operation(
    "revoke_token",
    "Give a token back.",
    "From then on nothing opens that came of the same sign-in. The answer does not tell whether there was such a "
    "token (RFC 7009).",
    requestBody=_body("RevocationRequest", {"token": "porthole_rt_…", "client_id": "5Xo0dD9iYkfnyGZ4"}, *EITHER),
    responses={
        "200": _answer("Nothing", "It opens nothing any more. The body tells nothing (RFC 7009 §2.2).", {}),
        **{status: _error(status) for status in ("400", "401", "405", "411", "413", "429", "500", "503")},
    },
)
PATHS: dict[str, Any] = {
    f"{PREFIX}register": {"post": _REGISTER},
    f"{PREFIX}authorize": {"get": _AUTHORIZE},
    f"{PREFIX}token": {"post": _ISSUE},
    f"{PREFIX}revoke": {"post": _REVOKE},
}
