"""On one machine with what people have there already: PostgreSQL, and nginx in front with a certificate of its own."""

import json
import shlex

from tests.deploy.installed import EMAIL, NAME, PASSWORD, TOOL, call, start, stop, token_of, units
from tests.deploy.machine import Machine, network_of_its_own
from tests.deploy.refusals import refused
from tests.deploy.steps import Failed, step

KEY, CERTIFICATE = "/etc/ssl/porthole.key", "/etc/ssl/porthole.crt"  # as deploy/nginx/porthole.conf has them
SECRET = "s3cret-of-the-database"
ADDRESS = f"postgresql://porthole:{SECRET}@127.0.0.1:5432/porthole"
SETTINGS = "etc/porthole/porthole.env"


def with_postgresql_and_nginx(here: Machine) -> None:
    step(
        "apt-get install postgresql nginx-light openssl",
        lambda: here.run("apt-get install -y --no-install-recommends postgresql nginx-light openssl"),
    )
    install = f"make install PUBLIC_URL=https://{NAME} PROXY=none DATABASE_URL={ADDRESS}"
    step(install, lambda: here.run(install))
    network_of_its_own(here)
    step("PostgreSQL is started, with a user and a database", lambda: postgresql(here))
    step("refused: the wrong password of the database", lambda: wrong_password(here))
    setup = f"porthole setup --operator {EMAIL} --organization acme"
    step(setup, lambda: here.run(f"PORTHOLE_OPERATOR_PASSWORD={shlex.quote(PASSWORD)} {setup}"))
    step("web and worker, by their units", lambda: [start(here, unit) for unit in units(here)[:2]])
    step("nginx, with deploy/nginx/porthole.conf and a self-signed certificate", lambda: nginx(here))
    step("http leads to https", lambda: is_led_to_https(here))
    token = step("a token, made in the browser", lambda: token_of(here, CERTIFICATE))
    step(f"https://{NAME}{TOOL} is 200", lambda: answers(here, token))
    for unit in units(here)[:2]:
        step(f"{unit.name} ends within {unit.seconds_to_stop()} s of SIGTERM", lambda unit=unit: stop(here, unit))


def postgresql(here: Machine) -> None:
    here.run("pg_ctlcluster $(pg_lsclusters --no-header | cut -d ' ' -f 1,2) start")
    here.run(
        f"cd / && setpriv --reuid=postgres --regid=postgres --init-groups psql -q -v ON_ERROR_STOP=1"
        f" -c \"CREATE ROLE porthole LOGIN PASSWORD '{SECRET}'\" -c 'CREATE DATABASE porthole OWNER porthole'; cd -"
    )


def wrong_password(here: Machine) -> None:
    settings = here.root / SETTINGS
    good = settings.read_text()
    settings.write_text(good.replace(SECRET, "another"))
    refused(here, "porthole setup", r"^CommandError: The database .* password authentication failed")
    settings.write_text(good)


def nginx(here: Machine) -> None:
    here.run(
        f"openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN={NAME}"
        f" -addext subjectAltName=DNS:{NAME} -keyout {KEY} -out {CERTIFICATE}"
    )
    here.run("rm /etc/nginx/sites-enabled/default; cp deploy/nginx/porthole.conf /etc/nginx/sites-enabled/")
    here.run("nginx -t -q && nginx")
    call(here, "/readyz", ca=CERTIFICATE)


def is_led_to_https(here: Machine) -> None:
    said = here.run(f"curl -sS -o /dev/null -w '%{{http_code}} %{{redirect_url}}' -H 'Host: {NAME}' http://127.0.0.1/x")
    if said.strip() != f"308 https://{NAME}/x":
        raise Failed(f"http: {said}")


def answers(here: Machine, token: str) -> None:
    account = json.loads(call(here, TOOL, token, CERTIFICATE))
    if account["organization"]["slug"] != "acme" or account["scopes"] != ["account:read"]:
        raise Failed(f"{TOOL}: {account}")
