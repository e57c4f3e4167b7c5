"""Surfaces: the kind of client at each path, and the format of its errors. Each app adds its own when it is ready.

What no app has added is a page for people.
"""

from collections.abc import Callable
from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse

from apps.web.exceptions import Refused


@dataclass(frozen=True, slots=True)
class Surface:
    """`refuse` answers in the shape that is expected there.

    `is_page`: for browsers, with sessions and CSRF. `any_origin`: CORS allows every origin. `needs_https`: who asks
    sends or gets a secret there, so plain http is refused outside local; false only where everything is public.
    `is_call`: for tools, which are called again and again, and so by the shortest way (apps.web.handler).
    """

    name: str
    refuse: Callable[[HttpRequest, Refused], HttpResponse]
    is_page: bool = False
    any_origin: bool = False
    needs_https: bool = True
    is_call: bool = False


_by_path: dict[str, Surface] = {}
_by_prefix: dict[str, Surface] = {}  # the longest first


def add(surface: Surface, *, paths: tuple[str, ...] = (), prefixes: tuple[str, ...] = ()) -> None:
    """An exact path goes before a prefix, a longer prefix before a shorter one."""
    _by_path.update(dict.fromkeys(paths, surface))
    known = _by_prefix | dict.fromkeys(prefixes, surface)
    _by_prefix.clear()
    _by_prefix.update(sorted(known.items(), key=lambda item: -len(item[0])))


def surface_of(request: HttpRequest) -> Surface:
    """The surface that a request is for. Looked up once for each request."""
    surface: Surface | None = getattr(request, "surface", None)
    if surface is None:
        surface = request.surface = _find(request.path_info)  # type: ignore[attr-defined]
    return surface


def _find(path: str) -> Surface:
    if surface := _by_path.get(path):
        return surface
    # "" is the prefix of every path: the pages, which apps.web adds.
    return next(surface for prefix, surface in _by_prefix.items() if path.startswith(prefix))
