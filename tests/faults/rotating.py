"""People and programs that use everything that SECRET_KEY protects, without a pause, at whichever server answers."""

import json
import random
import re
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from http.client import HTTPConnection
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from tests.accounts.visitors import PASSWORD, Fields, code
from tests.oauthmcp.authorizing import PATH, wanted
from tests.oauthmcp.grants import REDIRECT_URI, VERIFIER
from tests.patience import patience

PERIOD = 30  # seconds in which a code of an app works, once
PREPARE = """
import json
import django
django.setup()
from django.conf import settings
from django.contrib.staticfiles import finders
from tests.accounts.visitors import give_second_factor
from tests.factories import fill, make_more
from tests.oauthmcp.grants import *
from tests.operators import client_of
works = fill("acme")
make_more(works, 60)
paths = {path: path for finder in finders.get_finders() for path, _ in finder.list([])}
settings.STATIC_ROOT.mkdir(exist_ok=True)
(settings.STATIC_ROOT / "staticfiles.json").write_text(json.dumps({"version": "1.1", "paths": paths}))
people = []
for number in range(PEOPLE):
    member = make_member(works.organization, f"person{number}@example.com")
    sessions = [client_of(member.user).cookies[settings.SESSION_COOKIE_NAME].value for _ in range(2)]
    give_second_factor(member.user)
    authorization = make_authorization(make_client(), member)
    people.append({
        "email": member.user.email, "session": sessions[0], "second_session": sessions[1],
        "client_id": authorization.application.client_id,
        "access_token": make_access_token(authorization), "refresh_token": make_refresh_token(authorization),
    })
print(json.dumps(people))
"""


@dataclass
class Answer:
    status: int
    location: str
    cookies: dict[str, str]
    body: str


@dataclass
class Load:
    """Threads that do one thing each over and over, until it is over or one of them has lost something."""

    ports: list[int]
    people: list[dict[str, str]]
    told: Counter[str] = field(default_factory=Counter)
    lost: list[str] = field(default_factory=list)
    is_over: threading.Event = field(default_factory=threading.Event)

    def start(self) -> None:
        ways = (self.refresh, self.page, self.look, self.sign_in, self.consent)
        self.threads = [
            threading.Thread(target=self._repeat, args=(way, person)) for person in self.people for way in ways
        ]
        for thread in self.threads:
            thread.start()

    def end(self) -> None:
        self.is_over.set()
        for thread in self.threads:
            thread.join(patience())

    def _repeat(self, way: Callable[[dict[str, str]], None], person: dict[str, str]) -> None:
        while not self.is_over.is_set():
            try:
                way(person)
            except Exception as error:  # a thread that ends would lose nothing any more
                self.lost.append(f"{way.__name__}: {error!r}")
                return
            self.told[way.__name__] += 1

    # What they do

    def refresh(self, person: dict[str, str]) -> None:
        """Twice with the same token, as two windows do: both get the same successor."""
        form = {
            "grant_type": "refresh_token",
            "client_id": person["client_id"],
            "refresh_token": person["refresh_token"],
        }
        answers = [self.post("/api/auth/mcp/token", form) for _ in range(2)]
        assert {answer.status for answer in answers} == {200}, answers
        successors = {json.loads(answer.body)["refresh_token"] for answer in answers}
        assert len(successors) == 1, "two successors"
        person["refresh_token"] = successors.pop()
        person["access_token"] = json.loads(answers[-1].body)["access_token"]
        time.sleep(0.05)

    def page(self, person: dict[str, str]) -> None:
        """From the first page to the last, each at another server."""
        cursor, seen = None, 0
        while True:
            call = {"limit": 10} | ({"cursor": cursor} if cursor else {})
            headers = {"Authorization": f"Bearer {person['access_token']}", "Content-Type": "application/json"}
            answer = self.ask("POST", "/api/v1/tools/list_apps", json.dumps(call), headers)
            assert answer.status == 200, answer
            found = json.loads(answer.body)
            cursor, seen = found["nextCursor"], seen + len(found["items"])
            if not cursor:
                assert seen == 61, f"{seen} applications"
                return
            time.sleep(0.02)

    def look(self, person: dict[str, str]) -> None:
        """With one and the same cookie, which no answer may take away or replace."""
        answer = self.ask("GET", "/account/", "", {"Cookie": f"sessionid={person['session']}"})
        assert answer.status == 200, answer
        assert person["email"] in answer.body, "signed out"
        assert "sessionid" not in answer.cookies, "another session"
        time.sleep(0.05)

    def sign_in(self, person: dict[str, str]) -> None:
        """With a code, which works once: one every half minute."""
        cookies = {"csrftoken": "c" * 32}
        answer = self.submit("/account/login/", {"login": person["email"], "password": PASSWORD}, cookies)
        assert answer.location.startswith("/account/second-factor/sign-in/"), answer
        self.is_over.wait(random.uniform(0, 3))
        now = int(time.time())
        answer = self.submit("/account/second-factor/sign-in/", {"code": code(now // PERIOD)}, cookies)
        if answer.location != "/":
            if int(time.time()) // PERIOD == now // PERIOD:
                raise AssertionError(f"no second factor: {text_of(answer.body)}")
            return  # it came when its half minute was over
        assert person["email"] in self.ask("GET", "/account/", "", cookie(cookies)).body
        self.is_over.wait(PERIOD - time.time() % PERIOD + 0.5)

    def consent(self, person: dict[str, str]) -> None:
        """A page that stays open for a while; then its form is sent twice, and the code redeemed."""
        cookies = {"csrftoken": "c" * 32, "sessionid": person["second_session"]}  # `look` looks at the other one
        target = f"{PATH}?{urlencode(wanted(person['client_id'], resource=None))}"
        page = Fields(self.ask("GET", target, "", cookie(cookies)).body).names
        self.is_over.wait(random.uniform(0, 8))
        form = {
            "handle": page["handle"],
            "organization": page["organization"],
            "scope": "apps:read",
            "decision": "allow",
        }
        sent = {self.submit(PATH, form, cookies).location for _ in range(2)}
        assert len(sent) == 1, f"two answers: {sent}"
        [given] = parse_qs(urlsplit(sent.pop()).query)["code"]
        redeem = {"grant_type": "authorization_code", "client_id": person["client_id"], "code": given}
        answer = self.post("/api/auth/mcp/token", redeem | {"redirect_uri": REDIRECT_URI, "code_verifier": VERIFIER})
        assert answer.status == 200, answer

    # How they ask

    def submit(self, path: str, form: dict[str, str], cookies: dict[str, str]) -> Answer:
        content = urlencode(form | {"csrfmiddlewaretoken": cookies["csrftoken"]})
        headers = {"Content-Type": "application/x-www-form-urlencoded"} | cookie(cookies)
        answer = self.ask("POST", path, content, headers)
        cookies.update(answer.cookies)
        return answer

    def post(self, path: str, form: dict[str, str]) -> Answer:
        return self.ask("POST", path, urlencode(form), {"Content-Type": "application/x-www-form-urlencoded"})

    def ask(self, method: str, path: str, content: str, headers: dict[str, str]) -> Answer:
        while True:
            connection = HTTPConnection("127.0.0.1", random.choice(self.ports), timeout=patience())
            with suppress(ConnectionRefusedError):  # it has just been taken away, and a proxy asks the next one
                connection.request(method, path, content, {"Host": "localhost:8000"} | headers)
                response = connection.getresponse()
                given = [word.partition(";")[0].partition("=") for word in response.headers.get_all("Set-Cookie", [])]
                cookies = {name: value for name, _, value in given}
                answer = Answer(
                    response.status, response.headers.get("Location", ""), cookies, response.read().decode()
                )
                connection.close()
                return answer


def cookie(cookies: dict[str, str]) -> dict[str, str]:
    return {"Cookie": "; ".join(f"{name}={value}" for name, value in cookies.items())}


def text_of(page: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", page).split())[:600]


def people_of(said: str) -> list[dict[str, Any]]:
    people: list[dict[str, Any]] = json.loads(said.splitlines()[-1])
    return people
