"""Who asks at which path: programs of the API, of MCP and of OAuth; all other paths are pages for people."""

PAGES_OF_THE_API = ("/api/v1/docs", "/api/v1/docs/signed-in")


def is_api(path: str) -> bool:
    return path.startswith("/api/v1/")


def is_mcp(path: str) -> bool:
    return path in ("/mcp", "/mcp/")


def is_oauth(path: str) -> bool:
    """Registration, tokens, revocation and the second spelling of metadata; where people decide is a page."""
    return path.startswith("/api/auth/") and not path.startswith("/api/auth/mcp/authorize")


def is_page(path: str) -> bool:
    if is_api(path):
        return path in PAGES_OF_THE_API
    return not (is_mcp(path) or is_oauth(path) or path.startswith(("/.well-known/", "/healthz", "/readyz")))


def is_open(path: str) -> bool:
    """Whether pages of every site may read the answer: what a client needs before it has a token."""
    return path == "/api/v1/openapi.json" or path.startswith("/.well-known/") or is_oauth(path)
