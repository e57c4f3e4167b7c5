"""Headers of answers, past Django's checks of each letter."""

from django.http import HttpResponseBase


def headers_of(response: HttpResponseBase) -> dict[str, tuple[str, str]]:
    """Name and value by the name in lower case. What is added has to be printable ASCII, as a value of our own is."""
    headers: dict[str, tuple[str, str]] = response.headers._store
    return headers
