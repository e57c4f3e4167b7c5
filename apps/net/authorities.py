"""Whose certificates are believed: those that this machine believes, for a libcurl that brings none of its own.

And those of the operator's own authorities (EXTRA_CA_CERTS), besides.
"""

import os
import ssl
import tempfile
from functools import lru_cache
from pathlib import Path

import certifi
import pycurl
from django.conf import settings

FILE = "authorities.pem"  # in DATA_DIR


@lru_cache(maxsize=1)
def certificates() -> str:
    """A file of certificates. SSL_CERT_FILE says which; a system without one gets those that browsers trust."""
    of_system = ssl.get_default_verify_paths().cafile or certifi.where()
    return _with_ours(of_system) if settings.EXTRA_CA_CERTS else of_system


@lru_cache(maxsize=1)
def curl_options() -> dict[int, str]:
    """The wheel's libcurl looks where its builders had them. SSL_CERT_FILE and SSL_CERT_DIR are heeded."""
    paths = ssl.get_default_verify_paths()
    options = {pycurl.CAINFO: certificates()}
    if paths.capath:
        options[pycurl.CAPATH] = paths.capath
    return options


def _with_ours(of_system: str) -> str:
    """Both in one file: libcurl takes but one, and what it is given in memory it would parse for each connection."""
    both = Path(of_system).read_bytes() + b"\n" + settings.EXTRA_CA_CERTS.encode()
    # Other processes read it meanwhile, and write the same.
    descriptor, name = tempfile.mkstemp(prefix=f"{FILE}.", dir=settings.DATA_DIR)
    with os.fdopen(descriptor, "wb") as file:
        file.write(both)
    path = Path(settings.DATA_DIR) / FILE
    Path(name).replace(path)
    return str(path)
