"""What people had before the upgrade still works: sessions, second factors, tokens, invitations; and syncs go on.

Run as `python clock.py visit.py people.json`.
"""

import json
import sys
import time
from io import StringIO
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from allauth.mfa.totp.internal import auth
from django.conf import settings
from django.core.management import call_command
from django.db.models import F, Q
from django.test import Client

from apps.orgs.models import (
    App,
    Deployment,
    Domain,
    Environment,
    EnvVarName,
    HealthTimetable,
    OrgSecretName,
    Preview,
    Project,
    SourceConnection,
    Template,
)
from apps.orgs.timetables import refresh
from apps.platforms.management.commands import load_demo

# Pages name their style sheets as they are: nothing was collected.
settings.STORAGES["staticfiles"]["BACKEND"] = "django.contrib.staticfiles.storage.StaticFilesStorage"


def main(file: str) -> None:
    people: dict[str, Any] = json.loads(Path(file).read_text())
    signed_in(people)
    second_factor(people, totp_code(people["totp_secret"]))
    second_factor(people, people["recovery_code"])
    tokens(people)
    invitation(people)
    keys()
    loaded_again()
    places_and_timetables()


def check(holds: object, sentence: str) -> None:
    if not holds:
        sys.exit(f"After the upgrade: {sentence}")


def browser() -> Client:
    return Client(headers={"host": "localhost"})


def is_signed_in(client: Client, email: str) -> bool:
    answer = client.get("/account/")
    return answer.status_code == 200 and email in answer.content.decode()


def signed_in(people: dict[str, Any]) -> None:
    check(not is_signed_in(browser(), people["email"]), "somebody who never signed in is.")
    client = browser()
    client.cookies[settings.SESSION_COOKIE_NAME] = people["session"]
    check(is_signed_in(client, people["email"]), "the session of before is not signed in.")


def totp_code(secret: str) -> str:
    return str(auth.format_hotp_value(auth.hotp_value(secret, int(time.time()) // 30)))


def second_factor(people: dict[str, Any], code: str) -> None:
    client = browser()
    answer = client.post("/account/login/", {"login": people["email"], "password": people["password"]})
    check(answer.status_code == 302, "the password is not accepted.")
    check("/second-factor/" in answer["Location"], "no second factor is asked for.")
    client.post(answer["Location"], {"code": code})
    check(is_signed_in(client, people["email"]), "the code of the second factor is not accepted.")


def tokens(people: dict[str, Any]) -> None:
    check(account_of(people["access_token"]) == people["email"], "the access token does not work.")
    form = {"grant_type": "refresh_token", "refresh_token": people["refresh_token"], "client_id": people["client_id"]}
    answer = browser().post("/api/auth/mcp/token", urlencode(form), content_type="application/x-www-form-urlencoded")
    check(answer.status_code == 200, f"the refresh token does not work: {answer.content.decode()}")
    check(account_of(answer.json()["access_token"]) == people["email"], "the new access token does not work.")


def account_of(token: str) -> str | None:
    answer = browser().post(
        "/api/v1/tools/get_account", "{}", content_type="application/json", headers={"authorization": f"Bearer {token}"}
    )
    return str(answer.json()["viewer"]["email"]) if answer.status_code == 200 else None


def invitation(people: dict[str, Any]) -> None:
    page = browser().get(people["invitation"], follow=True).content.decode()
    check("newcomer@example.com" in page, "the link of the invitation does not open.")
    gone = browser().get("/account/invitations/unknown/", follow=True).content.decode()
    check("newcomer@example.com" not in gone, "any link opens an invitation.")


def keys() -> None:
    for model in (SourceConnection, Project, Environment, App, EnvVarName, OrgSecretName, Template):
        check(model.objects.exists(), f"there is no {model.__name__}.")
        check(not model.objects.filter(sort_key="").exists(), f"a {model.__name__} has no sort key.")


def loaded_again() -> None:
    """The rows that were moved are those that a sync of the same file makes: that of the release, in its checkout."""
    load_demo.FOLDER = Path(settings.DOCS_DIRS[0]).parent / "apps" / "orgs" / "demo"
    said = StringIO()
    call_command("load_demo", stdout=said)
    check(said.getvalue().count("nothing had changed") == 3, f"loading the demo again changed it: {said.getvalue()}")


def places_and_timetables() -> None:
    """What migrations filled is what writing the rows anew would fill."""
    for model in (Deployment, Domain, Preview):
        lost = model.objects.exclude(
            Q(within_project=F("app__project"))
            & (Q(within_environment=F("app__environment")) | Q(app__environment__isnull=True))
        )
        check(
            model.objects.exists() and not lost.exists(), f"{model.__name__}: rows are not where their application is."
        )
    check(not EnvVarName.objects.filter(within_project__isnull=True).exists(), "names of variables are in no project.")
    migrated = list(HealthTimetable.objects.order_by("pk").values())
    refresh(App.objects.values_list("pk", flat=True))
    check(migrated == list(HealthTimetable.objects.order_by("pk").values()), "timetables of health are other ones.")
    without = App.objects.filter(timetables__isnull=True).count()
    check(migrated and not without, f"{without} applications have no timetable of their health.")


if __name__ == "__main__":
    main(sys.argv[1])
