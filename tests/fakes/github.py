"""A fake GitHub over real HTTP on loopback, as GitHub Enterprise Server answers: below /api/v3. With one GitHub App.

    with GitHubFake() as fake:
        fake.token                          # a personal access token
        fake.app_id, fake.installation_id, fake.private_key
        fake.minted                         # the installation tokens that it made so far
        fake.revoke()                       # refuses all of them from now on
        fake.permissions["contents"] = ...  # what the installation permits; without contents nothing is minted (422)

An app's JSON Web Token is refused (401) unless its signature, iss, iat and exp are as GitHub wants them.
"""

import base64
import json
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from tests.fakes.git_hosts import FORBIDDEN, NOT_FOUND, UNAUTHORIZED, GitHostFake, Told
from tests.fakes.loopback import Request

READ_ONLY = {"contents": "read", "metadata": "read"}


@cache
def key() -> RSAPrivateKey:
    return generate_private_key(public_exponent=65537, key_size=2048)


def pem(of: Any) -> str:
    return of.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption()).decode()


class GitHubFake(GitHostFake):
    root = "/api/v3"

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.token = "ghp_t0kenOfAPersonThatNobodyMaySee"
        self.app_id, self.installation_id, self.private_key = "Iv23liAcme", "4711", pem(key())
        self.permissions = dict(READ_ONLY)
        self.is_suspended = False
        self.minted: list[str] = []
        self.claims: list[dict[str, Any]] = []
        self.life = timedelta(hours=1)
        self.minted_row: dict[str, Any] = {}  # instead of what is told of a token
        self._good: set[str] = set()

    def now(self) -> datetime:
        return datetime.now(UTC)

    def revoke(self) -> None:
        self._good.clear()

    def accepted(self) -> set[str]:
        return {f"Bearer {token}" for token in (self.token, *self._good)}

    def refusal(self, path: str, authorization: str | None) -> Told | None:
        if path.startswith("/app/"):
            return None if self._is_app((authorization or "").removeprefix("Bearer ")) else UNAUTHORIZED
        if path.startswith("/installation/") and authorization == f"Bearer {self.token}":
            return FORBIDDEN
        if path.startswith("/user") and (authorization or "").removeprefix("Bearer ") in self._good:
            return FORBIDDEN  # "Resource not accessible by integration"
        if path.startswith("/repositories/") and authorization is None:
            return None
        return super().refusal(path, authorization)

    def told(self, request: Request, path: str, body: Any) -> Told:
        match path.split("/")[1:]:
            case ["user"]:
                return 200, {"login": self.login, "id": 1}, {}
            case ["user", "repos"]:
                return 200, self.rows(request.query, "per_page"), {}
            case ["app", "installations", number, *rest] if number == self.installation_id:
                return self._mint(body) if rest == ["access_tokens"] else self._installation()
            case ["installation", "repositories"]:
                rows = self.rows(request.query, "per_page")
                return 200, {"total_count": len(self.repositories), "repositories": rows}, {}
            case ["repos", owner, name]:
                return self._repository(f"{owner}/{name}")
            case ["repositories", number]:
                return 200, {"full_name": self.repositories[int(number)]}, {}
        return NOT_FOUND

    def _repository(self, name: str) -> Told:
        if (now := self.renamed.get(name)) is not None:
            return 301, "", {"Location": f"{self.url}{self.root}/repositories/{self.repositories.index(now)}"}
        known = {one.casefold(): one for one in self.repositories}.get(name.casefold())
        return NOT_FOUND if known is None else (200, {"full_name": known}, {})

    def _installation(self) -> Told:
        return 200, {"id": int(self.installation_id), "account": {"login": "acme"}, "permissions": self.permissions}, {}

    def _mint(self, body: Any) -> Told:
        if self.is_suspended:
            return FORBIDDEN
        if any(name not in self.permissions for name in body["permissions"]):
            return 422, {"message": "The permissions requested are not granted to this installation."}, {}
        token = f"ghs_minted{len(self.minted)}ThatNobodyMaySee"
        self.minted.append(token)
        self._good.add(token)
        expires_at = (self.now() + self.life).strftime("%Y-%m-%dT%H:%M:%SZ")
        row = {"token": token, "expires_at": expires_at, "permissions": body["permissions"]}
        return 201, row | self.minted_row, {}

    def _is_app(self, token: str) -> bool:
        try:
            message, _, signature = token.rpartition(".")
            key().public_key().verify(_decoded(signature), message.encode(), PKCS1v15(), SHA256())
            header, claims = (json.loads(_decoded(part)) for part in message.split("."))
        except (InvalidSignature, ValueError):
            return False
        self.claims.append(claims)
        now = self.now().timestamp()
        is_in_time = claims["iat"] <= now < claims["exp"] <= now + 600
        return is_in_time and header["alg"] == "RS256" and claims["iss"] == self.app_id


def _decoded(part: str) -> bytes:
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))
