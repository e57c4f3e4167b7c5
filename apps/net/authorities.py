"""Whose certificates are believed: those that this machine believes, for a libcurl that brings none of its own."""

import ssl
from functools import lru_cache

import certifi
import pycurl


def certificates() -> str:
    """A file of certificates. SSL_CERT_FILE says which; a system without one gets those that browsers trust."""
    return ssl.get_default_verify_paths().cafile or certifi.where()


@lru_cache(maxsize=1)
def curl_options() -> dict[int, str]:
    """The wheel's libcurl looks where its builders had them. SSL_CERT_FILE and SSL_CERT_DIR are heeded."""
    paths = ssl.get_default_verify_paths()
    options = {pycurl.CAINFO: certificates()}
    if paths.capath:
        options[pycurl.CAPATH] = paths.capath
    return options
