"""One request with libcurl: to addresses that were checked, without redirects, and what came of it."""

import errno
from dataclasses import dataclass
from typing import Self

import pycurl

from apps.platforms.edge.certificates import REFUSED, WHY_REFUSED, Certificate, read_certificate
from apps.platforms.edge.targets import Outcome, Target, host_of

USER_AGENT = "Porthole (checks that this site answers)"
MAX_BYTES = 64 * 1024  # of an answer, its headers included
NO_WAY_THERE = {errno.ENETUNREACH, errno.ENETDOWN, errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT}


@dataclass(frozen=True, slots=True)
class Way:
    """The addresses to connect to, and the port where that is not the target's."""

    addresses: tuple[str, ...]
    port: int | None = None

    @classmethod
    def to(cls, address: str, port: int) -> Self:
        return cls((address,), port)


async def request(
    multi: pycurl.AsyncCurlMulti,
    outcome: Outcome,
    target: Target,
    way: Way,
    seconds: float,
    authorities: str | None,
) -> int:
    """Fills the outcome in; the code is curl's, 0 for good. Without `authorities` any certificate will do."""
    curl, code = pycurl.Curl(), 0
    try:
        _set_up(curl, target, way, seconds)
        _set_trust(curl, authorities)
        try:
            await multi.perform(curl)
        except pycurl.error as error:
            code = error.args[0]
        _fill(outcome, curl, code, target)
    finally:
        curl.close()
    return code


def _set_up(curl: pycurl.Curl, target: Target, way: Way, seconds: float) -> None:
    curl.setopt(pycurl.URL, target.url)
    _set_way(curl, target, way)
    curl.setopt(pycurl.PROTOCOLS, pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS)
    curl.setopt(pycurl.FOLLOWLOCATION, 0)
    curl.setopt(pycurl.PROXY, "")  # whatever the environment says
    curl.setopt(pycurl.PATH_AS_IS, 1)
    curl.setopt(pycurl.HTTP_VERSION, pycurl.CURL_HTTP_VERSION_1_1)
    curl.setopt(pycurl.USERAGENT, USER_AGENT)
    curl.setopt(pycurl.TIMEOUT_MS, round(seconds * 1000))
    curl.setopt(pycurl.CONNECTTIMEOUT_MS, round(seconds * 1000))
    curl.setopt(pycurl.NOSIGNAL, 1)
    # A connection that is there already would tell nothing of whether a new one can be made.
    curl.setopt(pycurl.FRESH_CONNECT, 1)
    curl.setopt(pycurl.FORBID_REUSE, 1)
    curl.setopt(pycurl.SSL_SESSIONID_CACHE, 0)
    count = _Counter()
    curl.setopt(pycurl.HEADERFUNCTION, count)
    curl.setopt(pycurl.WRITEFUNCTION, count)


def _set_way(curl: pycurl.Curl, target: Target, way: Way) -> None:
    host, pinned = host_of(target.host) or "", [f"[{it}]" if ":" in it else it for it in way.addresses]
    if way.port is not None:  # the name stays the target's: for SNI, for the certificate, for the site
        curl.setopt(pycurl.CONNECT_TO, [f"::{pinned[0]}:{way.port}"])
    elif ":" not in host:  # an address stands for itself
        curl.setopt(pycurl.RESOLVE, [f"{host}:{target.port}:{','.join(pinned)}"])


def _set_trust(curl: pycurl.Curl, authorities: str | None) -> None:
    curl.setopt(pycurl.OPT_CERTINFO, 1)
    curl.setopt(pycurl.SSL_VERIFYPEER, 1 if authorities else 0)
    curl.setopt(pycurl.SSL_VERIFYHOST, 2 if authorities else 0)
    if authorities:
        curl.setopt(pycurl.CAINFO, authorities)  # parsed once for all that share a multi handle


class _Counter:
    """Takes what comes until it was enough; curl ends the transfer where less is taken than was given."""

    def __init__(self) -> None:
        self.left = MAX_BYTES

    def __call__(self, data: bytes) -> int:
        self.left -= len(data)
        return len(data) if self.left >= 0 else 0


def _fill(outcome: Outcome, curl: pycurl.Curl, code: int, target: Target) -> None:
    status = curl.getinfo(pycurl.RESPONSE_CODE)
    outcome.certificate = _certificate(curl) if target.is_https else None
    if 200 <= status <= 599:  # it answered, however that went on
        outcome.reachable, outcome.http_status = True, status
        outcome.latency_ms = round(curl.getinfo(pycurl.STARTTRANSFER_TIME) * 1000)
        outcome.error = None
        return
    outcome.reachable, outcome.error = False, _why(curl, code, target)
    if code == pycurl.E_COULDNT_CONNECT and curl.getinfo(pycurl.OS_ERRNO) in NO_WAY_THERE:
        outcome.reachable, outcome.error = None, "There is no way from here to its address."


def _certificate(curl: pycurl.Curl) -> Certificate | None:
    chain = curl.getinfo_raw(pycurl.INFO_CERTINFO)
    for name, value in chain[0] if chain else ():
        if name == b"Cert":
            return read_certificate(value.decode("ascii", "replace"))
    return None


def _why(curl: pycurl.Curl, code: int, target: Target) -> str:
    match code:
        case pycurl.E_OPERATION_TIMEDOUT:
            return _what_took_too_long(curl, target)
        case pycurl.E_COULDNT_CONNECT:
            return "It refused the connection."
        case pycurl.E_PEER_FAILED_VERIFICATION:
            return WHY_REFUSED.get(curl.getinfo(pycurl.SSL_VERIFYRESULT), REFUSED)
        case pycurl.E_SSL_CONNECT_ERROR:
            return "No encryption could be agreed on."
        case pycurl.E_GOT_NOTHING | pycurl.E_RECV_ERROR | pycurl.E_SEND_ERROR:
            return "It closed the connection without an answer."
        case _:
            return "What it answered is not HTTP."


def _what_took_too_long(curl: pycurl.Curl, target: Target) -> str:
    if not curl.getinfo(pycurl.CONNECT_TIME):
        return "It accepted no connection within 5 seconds."
    if target.is_https and not curl.getinfo(pycurl.APPCONNECT_TIME):
        return "It agreed on no encryption within 5 seconds."
    return "It did not answer within 5 seconds."
