"""What the fake Coolify has: rows with the field names, and the secrets beside them, of the real one."""

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

# In every field that Porthole may never keep. No row, log line, exception or answer may hold it.
CANARY = "c4naRyHuNter2ValUe"
BEGINNING = datetime(2026, 8, 1, 10, tzinfo=UTC)
DIGEST = "1f" * 32
GITHUB, GITLAB = "App\\Models\\GithubApp", "App\\Models\\GitlabApp"
# One of each kind of source, over and over.
SOURCES = (
    {"build_pack": "nixpacks", "git_repository": "acme/shop", "source_type": GITHUB, "source_id": 1},
    {
        "build_pack": "railpack",
        "git_repository": "acme/team/api",
        "source_type": "App\\Models\\GitlabApp",
        "source_id": 1,
    },
    {
        "build_pack": "dockerimage",
        "git_repository": "coollabsio/coolify",
        "docker_registry_image_name": "ghcr.io/acme/worker@sha256",
        "docker_registry_image_tag": f"sha256-{DIGEST}",
    },
    {"build_pack": "dockercompose", "git_repository": f"https://deploy:{CANARY}@git.example.com/acme/stack.git"},
    {"build_pack": "dockerfile", "git_repository": "coollabsio/coolify", "dockerfile": f"ENV TOKEN={CANARY}"},
    {"build_pack": "static", "git_repository": "git@bitbucket.org:acme/site.git"},
    {
        "build_pack": "nixpacks",
        "git_repository": "acme/public",
        "source_type": "App\\Models\\GithubApp",
        "source_id": 0,
    },
)
# What no connector keeps, whatever the release tells of it.
NEVER = {
    "git_full_url": f"https://x:{CANARY}@github.com/acme/shop",
    "custom_labels": CANARY,
    "custom_docker_run_options": f"--env KEY={CANARY}",
    "custom_nginx_configuration": CANARY,
    "start_command": f"run --password {CANARY}",
    "pre_deployment_command": CANARY,
    "http_basic_auth_password": CANARY,
    "manual_webhook_secret_github": CANARY,
    "docker_compose": CANARY,
    "docker_compose_raw": CANARY,
    "destination": {"server": {"ip": "10.9.8.7", "settings": {"sentinel_token": CANARY}}},
    "additional_servers": [{"ip": "10.9.8.6", "private_key": CANARY}],
}


def stamp(moment: datetime) -> str:
    return f"{moment:%Y-%m-%dT%H:%M:%S}.000000Z"


@dataclass
class Rows:
    """Everything of one team. `is_old`: as 4.0.0-beta.445 spells it; `reads_secrets`: as a token sees it that may.

    Each project has so many applications, the odd ones in its staging.
    """

    applications: int
    services: int
    is_old: bool = False
    reads_secrets: bool = False
    per_project: int = 10
    deployments: dict[str, list[dict]] = field(default_factory=dict)  # by application, newest first
    previews: dict[str, list[dict]] = field(default_factory=dict)
    status: dict[str, str] = field(default_factory=dict)
    deleted: set[str] = field(default_factory=set)
    clock: datetime = BEGINNING

    def __post_init__(self) -> None:
        for index in range(self.applications):
            self.finish(self.deploy(index))

    # What changes

    def deploy(self, index: int, *, pull_request: int = 0, **columns: object) -> str:
        """A deployment begins. Returns its uuid."""
        app, history = app_uuid(index), self.deployments.setdefault(app_uuid(index), [])
        self.clock += timedelta(minutes=1)
        uuid = f"deployment{index}x{len(history)}"
        project, environment = f"project{index // self.per_project}", f"environment{self.environment_number(index)}"
        page = f"/project/{project}/environment/{environment}/application/{app}/deployment/{uuid}"
        row = {
            "id": 1000 + index * 100 + len(history),
            "application_id": str(500 + index),
            "application_name": f"Application {index}",
            "deployment_uuid": uuid,
            "deployment_url": page,
            "pull_request_id": pull_request,
            "status": "in_progress",
            "commit": f"{index:07x}{len(history):033x}",
            "commit_message": f"Change number {len(history)}\n\nIn more words.",
            "is_webhook": True,
            "is_api": False,
            "rollback": False,
            "server_name": "10.9.8.7",
            "configuration_snapshot": {"secret": CANARY},
            "configuration_hash": CANARY,
            "created_at": stamp(self.clock),
            "updated_at": stamp(self.clock),
            "finished_at": None,
        }
        if self.is_old:
            row["logs"] = json.dumps([{"output": f"exporting {CANARY}"}])
        history.insert(0, row | columns)
        return uuid

    def finish(self, uuid: str, status: str = "finished") -> None:
        self.clock += timedelta(seconds=30)
        for row in self.all_deployments():
            if row["deployment_uuid"] == uuid:
                ended = f"{self.clock:%Y-%m-%d %H:%M:%S}" if self.is_old else stamp(self.clock)
                row.update(status=status, finished_at=ended)

    def add_preview(self, index: int, pull_request: int) -> str:
        uuid = f"preview{index}x{pull_request}"
        row = {
            "uuid": uuid,
            "pull_request_id": pull_request,
            "pull_request_html_url": f"https://github.com/acme/shop/pull/{pull_request}",
            "fqdn": f"https://{pull_request}.app{index}.example.com",
            "status": "running:healthy",
            "git_type": "github",
            "created_at": stamp(self.clock),
        }
        self.previews.setdefault(app_uuid(index), []).append(row)
        return uuid

    # What is told

    def all_deployments(self) -> list[dict]:
        return [row for history in self.deployments.values() for row in history]

    def running(self) -> list[dict]:
        return [row for row in self.all_deployments() if row["status"] in ("queued", "in_progress")]

    def project_uuids(self) -> list[str]:
        return [f"project{number}" for number in range(1 + (self.applications - 1) // self.per_project)]

    def environment_number(self, index: int) -> int:
        """Of an application's environment."""
        return index // self.per_project * 2 + index % 2

    def project(self, uuid: str) -> dict:
        number = int(uuid.removeprefix("project"))
        return {
            "id": number,
            "uuid": uuid,
            "name": f"Project {number}",
            "description": None,
            "team_id": 0,
            "created_at": stamp(BEGINNING),
            "environments": [
                {"id": number * 2 + offset, "uuid": f"environment{number * 2 + offset}", "name": name,
                 "project_id": number, "created_at": stamp(BEGINNING)}
                for offset, name in ((1, "staging"), (0, "production"))
            ],
        }  # fmt: skip

    def application_rows(self) -> list[dict]:
        uuids = [app_uuid(index) for index in range(self.applications)]
        return [self.application(index) for index, uuid in enumerate(uuids) if uuid not in self.deleted]

    def application(self, index: int) -> dict:
        uuid = app_uuid(index)
        healthy = "running (healthy)" if self.is_old else "running:healthy"
        row = {
            "uuid": uuid,
            "name": f"Application {index}",
            "description": None,
            "environment_id": self.environment_number(index),
            "fqdn": f"https://app{index}.example.com:3000,https://app{index}.example.com/api",
            "docker_compose_domains": None,
            "git_branch": "main",
            "git_repository": None,
            "docker_registry_image_name": None,
            "docker_registry_image_tag": None,
            "source_id": None,
            "source_type": None,
            "status": self.status.get(uuid, healthy),
            "server_status": True,
            "restart_count": 0,
            "max_restart_count": 3,
            "last_restart_type": None,
            "swarm_replicas": 1,
            "destination_type": "App\\Models\\StandaloneDocker",
            "last_online_at": "2026-08-01 10:00:00",
            "created_at": stamp(BEGINNING),
        }
        row |= NEVER | SOURCES[index % len(SOURCES)]
        if row["build_pack"] == "dockercompose":
            domains = {"domain": f"https://stack{index}.example.com:8080"}
            row |= {"fqdn": None, "docker_compose_domains": json.dumps({"web-ui": domains, "web_ui": domains})}
        return row | ({"private_key_id": 7} if self.reads_secrets else {})

    def service_rows(self) -> list[dict]:
        return [self.service(index) for index in range(self.services) if service_uuid(index) not in self.deleted]

    def service(self, index: int, *, is_nested: bool = True) -> dict:
        row = {
            "uuid": service_uuid(index),
            "name": f"Service {index}",
            "description": "A database with a page",
            "environment_id": 0,
            "service_type": "plausible",
            "status": "running:healthy",
            "server_status": True,
            "created_at": stamp(BEGINNING),
        } | NEVER
        parts = [{"uuid": f"part{index}", "name": "web", "fqdn": f"https://service{index}.example.com:8000"}]
        nested = {"applications": parts, "databases": [{"uuid": f"db{index}", "postgres_password": CANARY}]}
        return row | (nested if is_nested else {})

    def variables(self, *names: str) -> list[dict]:
        """Of an application: each has a copy for its previews."""
        return [self.variable(name, is_preview=is_preview) for is_preview in (False, True) for name in names]

    def variable(self, name: str, *, is_preview: bool = False) -> dict:
        row = {"uuid": f"variable{name}", "key": name, "is_preview": is_preview, "is_shared": False, "comment": CANARY}
        row |= {"is_build_time": True} if self.is_old else {"is_runtime": name != "NODE_VERSION", "is_buildtime": True}
        secret = {"value": CANARY, "real_value": CANARY} if self.reads_secrets else {}
        return row | secret | {"updated_at": stamp(BEGINNING)}

    def shared(self, name: str) -> dict:
        secret = {"value": CANARY} if self.reads_secrets else {}
        return {"id": 1, "key": name, "type": "team", "comment": CANARY, "updated_at": stamp(BEGINNING)} | secret

    def github_apps(self) -> list[dict]:
        public = {"id": 0, "uuid": "github-public", "name": "Public GitHub", "organization": None,
                  "html_url": "https://github.com", "is_public": True, "app_id": None}  # fmt: skip
        own = {"id": 1, "uuid": "github-acme", "name": "acme on GitHub", "organization": "acme",
               "html_url": "https://github.com", "is_public": False, "app_id": 12, "installation_id": 34,
               "client_secret": CANARY, "webhook_secret": CANARY, "private_key_id": 7}  # fmt: skip
        return [public, own]

    def gitlab_apps(self) -> list[dict]:
        return [{"id": 1, "uuid": "gitlab-acme", "name": "acme on GitLab", "organization": None,
                 "html_url": "https://gitlab.example.com", "is_public": False, "expires_at": 1790000000,
                 "app_secret": CANARY}]  # fmt: skip


def app_uuid(index: int) -> str:
    return f"application{index}"


def service_uuid(index: int) -> str:
    return f"service{index}"
