"""Fake git hosts over real HTTP on loopback: GitLab, Gitea and Bitbucket Cloud. GitHub is in github.py.

    with GitLabFake() as fake:
        fake.url, fake.token                # where it answers, and an access token
        fake.repositories                   # the full names that its owner can read
        fake.renamed["acme/old"] = "acme/new"
        fake.forbidden.add("/user")         # paths below the API that this token may not ask for (403)
        fake.sent                           # (method, path as it came, Authorization) of all requests
        fake.fail("/user", "error")         # what a path below the API answers from now on: one of FAILURES

Each knows the ways in which the real one takes its credentials, and refuses every other with 401.
"""

import json
import re
from base64 import b64encode
from typing import Any
from urllib.parse import unquote

from tests.fakes.loopback import LoopbackFake, Request

CANARY = "canary0fWhatTheHostSays"
REPOSITORIES = [f"acme/app-{number:02}" for number in range(15)]
Told = tuple[int, Any, dict[str, str]]
FAILURES: dict[str, Told] = {
    "unauthorized": (401, {"message": CANARY}, {}),
    "forbidden": (403, {"message": CANARY}, {}),
    "used_up": (403, {"message": CANARY}, {"X-RateLimit-Remaining": "0"}),
    "secondary_limit": (403, {"message": CANARY}, {"Retry-After": "60"}),
    "not_found": (404, {"message": CANARY}, {}),
    "gone": (410, {"message": CANARY}, {}),
    "bad_request": (400, {"message": CANARY}, {}),
    "unprocessable": (422, {"message": CANARY}, {}),
    "rate_limited": (429, {"message": CANARY}, {"Retry-After": "17"}),
    "error": (500, {"message": CANARY}, {}),
    "html": (200, f"<!doctype html><title>{CANARY}</title>", {}),
    "strange": (200, {"items": {"secret": CANARY}}, {}),
    "text": (200, [CANARY, 1, None], {}),
    "large": (200, f"[{'1,' * 2**21}1]", {}),
    "elsewhere": (302, "", {"Location": f"http://169.254.169.254/{CANARY}"}),
    "other_port": (301, "", {"Location": "http://127.0.0.1:1/api/v4/projects/1"}),
    "outside": (301, "", {"Location": f"/login?{CANARY}"}),
    "climbing": (301, "", {"Location": "/api/v4/../../admin"}),
    "nowhere": (301, "", {}),
}
UNAUTHORIZED, FORBIDDEN, NOT_FOUND = FAILURES["unauthorized"], FAILURES["forbidden"], FAILURES["not_found"]


def basic(username: str, password: str) -> str:
    return f"Basic {b64encode(f'{username}:{password}'.encode()).decode()}"


class GitHostFake(LoopbackFake):
    root = ""  # of the API
    key = "full_name"

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.token = "t0kenOfTheFakeThatNobodyMaySee"
        self.login = "acme-bot"
        self.repositories = list(REPOSITORIES)
        self.renamed: dict[str, str] = {}
        self.forbidden: set[str] = set()
        self.headers: dict[str, str] = {}
        self.sent: list[tuple[str, str, str | None]] = []
        self.slow = 0.0

    def respond(self, request: Request, headers: Any, body: bytes) -> tuple[int, bytes, dict[str, str]]:
        self.requests.append(request)
        self.sent.append((request.method, request.path, headers.get("Authorization")))
        if self.slow:
            self._released.wait(self.slow)
        status, told, more = self.answer(request, headers.get("Authorization"), json.loads(body) if body else None)
        return status, (told if isinstance(told, str) else json.dumps(told)).encode(), self.headers | more

    def answer(self, request: Request, authorization: str | None, body: Any) -> Told:
        if not request.path.startswith(f"{self.root}/"):
            return FAILURES["html"]
        path = request.path.removeprefix(self.root)
        for pattern, kind in self._failures.items():
            if re.fullmatch(pattern, path):
                return FAILURES[kind]
        if (refused := self.refusal(path, authorization)) is not None:
            return refused
        if path in self.forbidden:
            return FORBIDDEN
        return self.told(request, path, body)

    def refusal(self, path: str, authorization: str | None) -> Told | None:
        """Anybody may ask where public things are. Wrong credentials are wrong everywhere."""
        if authorization is None:
            return None if path.startswith(("/repos/", "/projects/", "/repositories")) else UNAUTHORIZED
        return None if authorization in self.accepted() else UNAUTHORIZED

    def accepted(self) -> set[str]:
        raise NotImplementedError

    def told(self, request: Request, path: str, body: Any) -> Told:
        raise NotImplementedError

    def rows(self, query: dict[str, str], size: str) -> list[dict[str, Any]]:
        return [{self.key: name, "id": index} for index, name in enumerate(self.repositories)][: int(query[size])]

    def sent_to(self, path: str) -> list[str | None]:
        return [authorization for _, one, authorization in self.sent if one == f"{self.root}{path}"]


class GitLabFake(GitHostFake):
    root, key = "/api/v4", "path_with_namespace"

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.scopes: list[str] = ["read_api", "read_repository"]
        self.expires_at: str | None = "2027-03-01"
        self.redirects = True  # since 16.4

    def accepted(self) -> set[str]:
        return {f"Bearer {self.token}"}

    def told(self, request: Request, path: str, body: Any) -> Told:
        match path.split("/")[1:]:
            case ["personal_access_tokens", "self"]:
                return 200, {"id": 7, "scopes": self.scopes, "expires_at": self.expires_at}, {}
            case ["user"]:
                return 200, {"id": 1, "username": self.login}, {}
            case ["projects"]:
                assert request.query["membership"] == "true"
                return 200, self.rows(request.query, "per_page"), {}
            case ["projects", number] if number.isdecimal():
                return 200, {self.key: self.repositories[int(number)], "id": int(number)}, {}
            case ["projects", quoted]:
                return self._project(unquote(quoted))
        return NOT_FOUND

    def _project(self, name: str) -> Told:
        now = self.renamed.get(name, name)
        if now not in self.repositories or (now != name and not self.redirects):
            return NOT_FOUND
        number = self.repositories.index(now)
        if now == name:
            return 200, {self.key: now, "id": number}, {}
        return 301, "", {"Location": f"{self.url}{self.root}/projects/{number}"}


class GiteaFake(GitHostFake):
    root = "/api/v1"
    username = "acme-bot"

    def accepted(self) -> set[str]:
        return {basic("x-access-token", self.token), basic(self.username, self.token), f"token {self.token}"}

    def told(self, request: Request, path: str, body: Any) -> Told:
        match path.split("/")[1:]:
            case ["user"]:
                return 200, {"id": 1, "login": self.login}, {}
            case ["user", "repos"]:
                return 200, self.rows(request.query, "limit"), {}
            case ["repos", "search"]:
                return 200, {"ok": True, "data": self.rows(request.query, "limit")}, {}
            case ["repos", owner, name]:
                return self._repository(f"{owner}/{name}")
        return NOT_FOUND

    def _repository(self, name: str) -> Told:
        if (now := self.renamed.get(name)) is not None:
            return 307, "", {"Location": f"{self.root}/repos/{now}"}
        return (200, {"full_name": name}, {}) if name in self.repositories else NOT_FOUND


class BitbucketFake(GitHostFake):
    root = "/2.0"
    email, username = "bot@acme.example", "acme-bot"

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.api_token = "ATATTt0kenOfAPersonThatNobodyMaySee"
        self.workspaces = ["acme", "rival"]

    def accepted(self) -> set[str]:
        return {f"Bearer {self.token}", basic(self.email, self.api_token)}

    def refusal(self, path: str, authorization: str | None) -> Told | None:
        if authorization == f"Bearer {self.token}" and path.startswith("/user"):
            return FORBIDDEN  # "This API is not accessible by this authentication mechanism"
        return super().refusal(path, authorization)

    def told(self, request: Request, path: str, body: Any) -> Told:
        match path.split("/")[1:]:
            case ["user"]:
                return 200, {"uuid": "{1}", "username": self.login, "display_name": "A bot"}, {}
            case ["user", "workspaces"]:
                rows = [{"type": "workspace_access", "workspace": {"slug": slug}} for slug in self.workspaces]
                return 200, {"values": rows[: int(request.query["pagelen"])]}, {}
            case ["repositories"]:
                return FAILURES["gone"]  # since 2026, as all lists across workspaces
            case ["repositories", workspace]:
                assert request.query["role"] == "member"
                names = [name for name in self.repositories if name.startswith(f"{workspace}/")]
                return 200, {"values": [{"full_name": name} for name in names[: int(request.query["pagelen"])]]}, {}
            case ["repositories", workspace, slug]:
                name = self.renamed.get(f"{workspace}/{slug}", f"{workspace}/{slug}")
                return (200, {"full_name": name}, {}) if name in self.repositories else NOT_FOUND
        return NOT_FOUND
