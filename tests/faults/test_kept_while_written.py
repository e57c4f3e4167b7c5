"""Many clients ask a real server while rows are written: no answer is older than what was committed before the call."""

import json
import random
import re
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.config.server import Connection, Server, gunicorn, request_bytes, start
from tests.faults.databases import Database, database
from tests.patience import patience
from tests.tools.asking import MCP

pytestmark = [pytest.mark.soak, pytest.mark.process]
CLIENTS, SECONDS = 4, 12  # of each organization; in which they ask
NUMBER = re.compile(rb"(acme|rival)-(\d+)-written")
# Each organization's application and deployment tell how many writes there were, and whose they are.
WRITER = """
import random, sys, time
import django
django.setup()
from apps.orgs.models import App, Deployment
slug, number = sys.argv[1], 0
while True:
    number += 1
    text = f"{slug}-{number}-written"
    rows = App.objects.filter(organization__slug=slug, name=f"{slug} app")
    if number % 3:
        rows.update(upstream_status=text)
    else:
        row = rows.get()
        row.upstream_status = text
        row.save()
    Deployment.objects.filter(app__in=rows).update(upstream_status=text)
    print(number, flush=True)
    time.sleep(random.choice([0.0, 0.01, 0.1]))  # also so long that answers are kept, and asked for again
"""
PREPARE = """
import json
import django
django.setup()
from tests.factories import fill
from tests.oauthmcp.grants import *
tokens = {}
for slug in ("acme", "rival"):
    member = make_member(fill(slug).organization, f"{slug}@example.com")
    tokens[slug] = make_access_token(make_authorization(make_client(), member))
print(json.dumps(tokens))
"""


@dataclass
class Found:
    """`committed`: by organization, the writes that are known to be there."""

    committed: dict[str, int] = field(default_factory=lambda: {"acme": 0, "rival": 0})
    told: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    is_over: bool = False


def write(slug: str, rows: Database, found: Found) -> None:
    process = start("-W", "ignore", "-c", WRITER, slug, env=rows.env)
    assert process.stdout
    while not found.is_over and (line := process.stdout.readline()):
        found.committed[slug] = int(line)
    process.kill()
    process.communicate()


def ask(slug: str, token: str, server: Server, found: Found) -> None:
    requests = [of_http(token, tool) for tool in ("list_apps", "list_deployments")]
    requests += [of_mcp(token, tool) for tool in ("list_apps", "list_deployments")]
    chance = random.Random()
    with server.connect() as connection:
        while not found.is_over:
            look(slug, connection, chance.choice(requests), found)


def look(slug: str, connection: Connection, request: bytes, found: Found) -> None:
    before = found.committed[slug]
    connection.send(request)
    answer = connection.answer()
    told = {(owner.decode(), int(number)) for owner, number in NUMBER.findall(answer.body)}
    found.told[slug] += 1
    if answer.status != 200 or {owner for owner, _ in told} - {slug} or any(number < before for _, number in told):
        found.wrong.append(f"{slug} {before} {answer.status} {told}")
    elif before and not told:
        found.wrong.append(f"{slug}: nothing is told")


def of_http(token: str, tool: str) -> bytes:
    return request_bytes(f"/api/v1/tools/{tool}", token=token)


def of_mcp(token: str, tool: str) -> bytes:
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": {}}}
    return request_bytes("/mcp", body=json.dumps(message).encode(), token=token, mcp_protocol_version=MCP_ERA)


MCP_ERA = MCP["mcp-protocol-version"]


@pytest.mark.parametrize("kind", ["postgresql", "sqlite"])
def test_no_answer_is_older_than_what_was_committed_before_the_call(kind: str, tmp_path: Path) -> None:
    found = Found()
    with database(kind, tmp_path) as rows:
        tokens = json.loads(rows.run(PREPARE).splitlines()[-1])
        env = rows.env | {"RATE_LIMITS": "off", "WEB_CONCURRENCY": "2", "PUBLIC_URL": "http://localhost:8000"}
        with gunicorn(env) as server:
            threads = [threading.Thread(target=write, args=(slug, rows, found)) for slug in tokens]
            for slug, token in tokens.items():
                threads += [threading.Thread(target=ask, args=(slug, token, server, found)) for _ in range(CLIENTS)]
            for thread in threads:
                thread.start()
            time.sleep(SECONDS)
            found.is_over = True
            for thread in threads:
                thread.join(patience())
    assert found.wrong == []
    print(f"\n{kind}: {dict(found.told)} calls, {found.committed} writes")  # noqa: T201
    assert min(found.told.values()) > 100
    assert min(found.committed.values()) > 20
