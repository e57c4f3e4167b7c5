"""Which surface a path belongs to, and that what only pages need touches nothing else."""

import pytest
from django.conf import settings
from django.test import Client, RequestFactory

from apps.web import surfaces
from apps.web.surfaces import Surface, surface_of


@pytest.mark.parametrize(
    ("path", "name", "is_page", "any_origin"),
    [
        ("/", "page", True, False),
        ("/account/login/", "account", True, False),
        ("/admin/", "account", True, False),
        ("/anything/else", "page", True, False),
        ("/healthz", "probe", False, False),
        ("/api/v1/tools/list_apps", "api", False, False),
        ("/api/v1/openapi.json", "api description", False, True),
        ("/api/v1/docs", "api reference", True, False),
        ("/api/v1/docs/signed-in", "api reference", True, False),
        ("/api/v1/docs/more", "api", False, False),
        ("/mcp", "mcp", False, False),
        ("/mcp/", "mcp", False, False),
        ("/mcp/more", "page", True, False),
        ("/api/auth/mcp/token", "oauth", False, True),
        ("/api/auth/mcp/authorize", "authorize", True, False),
        ("/.well-known/oauth-authorization-server", "metadata", False, True),
        ("/api/auth/.well-known/oauth-authorization-server", "metadata", False, True),
    ],
)
def test_a_path_belongs_to_one_surface(path: str, name: str, is_page: bool, any_origin: bool) -> None:
    surface = surface_of(RequestFactory().get(path))
    assert (surface.name, surface.is_page, surface.any_origin) == (name, is_page, any_origin)


def test_a_request_is_classified_once(monkeypatch: pytest.MonkeyPatch) -> None:
    request = RequestFactory().get("/mcp")
    found = surface_of(request)
    monkeypatch.setattr(surfaces, "_find", lambda path: pytest.fail("looked up again"))
    assert surface_of(request) is found


def test_an_exact_path_goes_before_a_prefix_and_a_longer_prefix_before_a_shorter_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(surfaces, "_by_path", {})
    monkeypatch.setattr(surfaces, "_by_prefix", {})
    all_paths, exact, short, long = (Surface(name, lambda *_: None) for name in ("", "exact", "short", "long"))  # type: ignore[arg-type,return-value]
    surfaces.add(short, prefixes=("/a/",))
    surfaces.add(long, prefixes=("/a/b/",))
    surfaces.add(all_paths, prefixes=("",))
    surfaces.add(exact, paths=("/a/b/c",))
    names = [surface_of(RequestFactory().get(path)).name for path in ("/", "/a/x", "/a/b/x", "/a/b/c")]
    assert names == ["", "short", "long", "exact"]


@pytest.mark.parametrize("path", ["/api/v1/openapi.json", "/api/v1/tools/list_apps", "/mcp", "/api/auth/mcp/token"])
def test_what_programs_post_is_never_taken_for_a_form_of_a_page(db: None, path: str) -> None:
    response = Client(enforce_csrf_checks=True).post(path, {}, content_type="application/json")
    assert response.status_code != 403
    assert response["Content-Type"] == "application/json"
    assert not response.cookies


def test_a_form_of_a_page_without_its_token_is_refused(db: None) -> None:
    assert Client(enforce_csrf_checks=True).post("/account/login/").status_code == 403
    assert "django.middleware.csrf.CsrfViewMiddleware" in settings.PAGE_MIDDLEWARE
