"""Which authorities a certificate may come from: those of the system."""

import ssl
from functools import cache
from pathlib import Path

import certifi


@cache
def trusted_authorities() -> str:
    """A file of certificates. SSL_CERT_FILE says which; a system without one gets those that browsers trust.

    libcurl's own default is a path of the machine that it was built on.
    """
    own = ssl.get_default_verify_paths().cafile
    return own if own is not None and Path(own).is_file() else certifi.where()
