"""490 applications beside the demo's ten, as much like them as can be: the same branches, names and troubles."""

from typing import Any

import yaml

from apps.orgs.models import Organization, Platform
from apps.platforms.manifest.reader import read_manifest
from apps.platforms.snapshot.apply import apply

PROJECTS, APPS = 10, 49  # so many of these each
BEFORE = "2026-04-20T10:00:00Z"  # older than what the demo did
CHECKED = "2026-05-31T23:50:00Z"
BRANCHES = ["main", "release", "next", "trunk"]


def add_fleet() -> None:
    """To the demo organization, as another platform tells of it."""
    organization = Organization.objects.get(slug="demo")
    platform = Platform.objects.create(organization=organization, kind=Platform.Kind.MANIFEST, name="fleet")
    manifest = {"version": 1, "projects": [_project(number) for number in range(PROJECTS)]}
    apply(platform, read_manifest(yaml.safe_dump(manifest).encode()).snapshot)


def _project(number: int) -> dict[str, Any]:
    environments = ["production", "staging"]
    return {
        "key": f"fleet-{number}",
        "name": f"Fleet {number}",
        "environments": [{"key": f"fleet-{number}-{name}", "name": name} for name in environments],
        "variables": ["DATABASE_HOST"],
        "apps": [_app(number * APPS + index, f"fleet-{number}-{environments[index % 2]}") for index in range(APPS)],
    }


def _app(number: int, environment: str) -> dict[str, Any]:
    branch = BRANCHES[number % len(BRANCHES)]
    return {
        "key": f"service-{number}",
        "name": f"Service {number:03}",
        "environment": environment,
        "status": ["deployed", "error", "idle"][number % 3],
        "source": {"type": "github", "repository": f"fleet/service-{number}", "branch": branch},
        "variables": ["DATABASE_URL", "SESSION_SECRET"],
        "runtime": {"desired": 2, "running": number % 3},
        "domains": [_domain(number)],
        "previews": [_preview(number)],
        "deployments": [_deployment(number, branch)],
    }


def _domain(number: int) -> dict[str, Any]:
    not_after = f"2026-0{5 + number % 4}-10T00:00:00Z"
    edge = {"checkedAt": CHECKED, "reachable": True, "httpStatus": 200, "dnsStatus": "resolves"}
    tls = {"issuer": "Let's Encrypt E7", "notAfter": not_after, "isValid": True}
    return {"key": f"service-{number}-main", "host": f"service-{number}.fleet.example", "edge": edge | {"tls": tls}}


def _preview(number: int) -> dict[str, Any]:
    pull_request = {"number": 40 + number % 50, "title": f"Change number {number}"}
    status = ["error", "idle", "deployed"][number % 3]
    return {
        "key": f"service-{number}-preview", "branch": f"change-{number}", "status": status,
        "pullRequest": pull_request, "createdAt": BEFORE,
    }  # fmt: skip


def _deployment(number: int, branch: str) -> dict[str, Any]:
    return {
        "key": f"service-{number}-1", "title": f"Release of service {number}", "branch": branch, "createdAt": BEFORE,
        "status": ["succeeded", "failed"][number % 2], "commit": {"sha": f"{number:040x}"},
    }  # fmt: skip
