"""What a fake Dokploy has, with the names of the real one's columns, and how it changes."""

import itertools
import threading
from datetime import UTC, datetime, timedelta
from typing import Any

# In everything that may reach nobody: values, keys, paths.
CANARY = "canary0Secret7x"
PEM = f"-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkq{CANARY}\nAQEFAASCBKcwgg==\n-----END PRIVATE KEY-----"
SHA = "8f14e45fceea167a5a36dedd4bea2543ab12cd{:02x}"
MAX_DEPLOYMENTS = 10  # Dokploy forgets older ones
STALE = {  # what earlier sources left in columns that no longer count
    "repository": "old", "owner": "stale", "branch": "stale", "githubId": None,
    "gitlabOwner": "stale", "gitlabRepository": "old", "gitlabBranch": "stale", "gitlabPathNamespace": "stale/old",
    "gitlabId": None, "bitbucketOwner": "stale", "bitbucketRepository": "Old one", "bitbucketRepositorySlug": None,
    "bitbucketBranch": None, "bitbucketId": None, "giteaOwner": None, "giteaRepository": None, "giteaBranch": None,
    "giteaId": None, "customGitUrl": None, "customGitBranch": None, "dockerImage": None,
}  # fmt: skip
SOURCES: tuple[dict[str, Any], ...] = (
    {"sourceType": "github", "owner": "acme", "repository": "shop", "branch": "main", "githubId": "gh-1"},
    {"sourceType": "gitlab", "gitlabOwner": "acme", "gitlabRepository": "web", "gitlabBranch": "main",
     "gitlabPathNamespace": "acme/group/web", "gitlabId": "gl-1"},
    {"sourceType": "bitbucket", "bitbucketOwner": "acme", "bitbucketRepository": "Pay roll",
     "bitbucketRepositorySlug": "pay-roll", "bitbucketBranch": "main", "bitbucketId": "bb-1"},
    {"sourceType": "gitea", "giteaOwner": "acme", "giteaRepository": "docs", "giteaBranch": "main", "giteaId": "gt-1"},
    {"sourceType": "git", "customGitUrl": f"https://u:{CANARY}@git.example.com/acme/api.git", "customGitBranch": "v2"},
    {"sourceType": "docker", "dockerImage": "ghcr.io/acme/worker:1.4"},
    {"sourceType": "drop"},
)  # fmt: skip


class Rows:
    """Its tables. Whoever changes them holds `lock`; the methods do."""

    def __init__(self, applications: int, composes: int, host: str, *, is_live: bool = False) -> None:
        self.lock = threading.RLock()
        self.host = host
        self.organization = {"id": "org-acme", "name": "Acme", "slug": "acme", "ownerId": "user-1"}
        self.role = "member"
        self.projects: list[dict[str, Any]] = []
        self.environments: list[dict[str, Any]] = []
        self.applications: list[dict[str, Any]] = []
        self.composes: list[dict[str, Any]] = []
        self.domains: list[dict[str, Any]] = []
        self.deployments: list[dict[str, Any]] = []
        self.previews: list[dict[str, Any]] = []
        self.tasks: dict[str, list[dict[str, str]]] = {}
        self.templates = [
            {"id": "umami", "name": "Umami", "version": "2.1", "description": "Analytics.", "logo": "umami.svg",
             "links": {"github": "https://github.com/umami-software/umami", "website": "", "docs": None},
             "tags": ["analytics", "Self hosted"]},
        ]  # fmt: skip
        self.secret_names = ["DB_PASSWORD", "path/to/secret"]
        self._numbers = itertools.count(1)
        self._is_live = False
        self._clock = datetime.now(UTC) - timedelta(hours=6) if is_live else datetime(2026, 11, 1, tzinfo=UTC)
        for _ in range(max(1, (applications + 9) // 10)):
            self.add_project()
        for number in range(applications):
            self.add_application(project=number // 10)
        for _ in range(composes):
            self.add_compose()
        self._is_live = is_live

    def moment(self) -> str:
        """A minute later than the last one; now, where it is live."""
        self._clock = datetime.now(UTC) if self._is_live else self._clock + timedelta(minutes=1)
        return self._clock.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def id(self, prefix: str) -> str:
        return f"{prefix}-{next(self._numbers):05d}"

    def add_project(self) -> dict[str, Any]:
        project = {
            "projectId": self.id("project"), "name": f"Project {len(self.projects) + 1}", "description": None,
            "createdAt": self.moment(), "organizationId": self.organization["id"],
            "env": f"DATABASE_URL=postgres://u:{CANARY}@db/x\n", "projectTags": [],
        }  # fmt: skip
        self.projects.append(project)
        self.environments.append({
            "environmentId": f"env_prod_{project['projectId']}_1759.42", "name": "production", "isDefault": True,
            "projectId": project["projectId"], "env": f'SMTP_KEY="{PEM}"', "createdAt": self.moment(),
        })  # fmt: skip
        return project

    def add_application(self, project: int = 0, **columns: Any) -> dict[str, Any]:
        """With a domain, a deployment that is done, and a running container."""
        with self.lock:
            number = len(self.applications) + 1
            application = self._service(project) | STALE | SOURCES[(number - 1) % len(SOURCES)] | {
                "applicationId": self.id("app"), "name": f"Shop {number}", "appName": f"shop-{number}-x7",
                "applicationStatus": "done", "replicas": 1, "isPreviewDeploymentsActive": False, "serverId": None,
                "env": f"DATABASE_URL=${{{{project.DATABASE_URL}}}}\nSECRET='{CANARY}\nNOT_A_NAME=1'\n# X={CANARY}\n",
                "previewEnv": f"PREVIEW_KEY={CANARY}", "buildArgs": f"NODE_ENV={CANARY}", "buildSecrets": None,
                **columns,
            }  # fmt: skip
            self.applications.append(application)
            self.add_domain(application)
            self.deploy(application, "done")
            self.tasks[application["appName"]] = [task("running", "Running 3 minutes ago")]
            return application

    def add_compose(self, project: int = 0, **columns: Any) -> dict[str, Any]:
        with self.lock:
            number = len(self.composes) + 1
            compose = self._service(project) | STALE | {
                "composeId": self.id("compose"), "name": f"Stack {number}", "appName": f"stack-{number}-y3",
                "composeStatus": "done", "sourceType": "raw", "composeFile": f"services: {CANARY}",
                "env": f"STACK_KEY={CANARY}", "serverId": None, "refreshToken": CANARY, **columns,
            }  # fmt: skip
            self.composes.append(compose)
            self.add_domain(compose)
            self.deploy(compose, "done")
            return compose

    def _service(self, project: int) -> dict[str, Any]:
        environment = self.environments[project]
        return {
            "description": None, "createdAt": self.moment(), "environmentId": environment["environmentId"],
            "projectId": environment["projectId"],
        }  # fmt: skip

    def add_domain(self, service: dict[str, Any], **columns: Any) -> dict[str, Any]:
        domain = {
            "domainId": self.id("domain"), "host": f"{service['appName']}.{self.host}", "https": True, "port": 3000,
            "path": "/", "domainType": "application" if "applicationId" in service else "compose",
            "createdAt": self.moment(), "certificateType": "letsencrypt", "enabled": True,
            "applicationId": service.get("applicationId"), "composeId": service.get("composeId"),
            "previewDeploymentId": None, "customCertResolver": None, **columns,
        }  # fmt: skip
        self.domains.append(domain)
        return domain

    def add_preview(self, application: dict[str, Any], number: int = 7, **columns: Any) -> dict[str, Any]:
        """With a domain of its own and a deployment, which no list of deployments has."""
        with self.lock:
            application["isPreviewDeploymentsActive"] = True
            preview = {
                "previewDeploymentId": self.id("preview"), "branch": f"feature-{number}", "pullRequestId": "1",
                "pullRequestNumber": str(number), "pullRequestURL": f"https://github.com/acme/shop/pull/{number}",
                "pullRequestTitle": "A feature", "pullRequestCommentId": "1", "previewStatus": "done",
                "appName": f"preview-{number}-{application['appName']}", "createdAt": self.moment(),
                "applicationId": application["applicationId"], "domainId": None, "expiresAt": None, **columns,
            }  # fmt: skip
            ids = {"applicationId": None, "previewDeploymentId": preview["previewDeploymentId"]}
            domain = self.add_domain(preview | {"appName": f"pr-{number}"}, domainType="preview", **ids)
            preview["domainId"] = domain["domainId"]
            self.previews.append(preview)
            self._add_deployment("done", isPreviewDeployment=True, **ids)
            return preview

    def deploy(self, service: dict[str, Any], status: str = "running", **columns: Any) -> dict[str, Any]:
        """A deployment begins; with another status it has ended too."""
        with self.lock:
            ids = {"applicationId": service.get("applicationId"), "composeId": service.get("composeId")}
            deployment = self._add_deployment("running", **ids, **columns)
            mine = [row for row in self.deployments if all(row[name] == id for name, id in ids.items())]
            for old in mine[:-MAX_DEPLOYMENTS]:
                self.deployments.remove(old)
            self._set_status(service, "running")
            if status != "running":
                self.finish(deployment, status)
            return deployment

    def finish(self, deployment: dict[str, Any], status: str = "done", error: str | None = None) -> None:
        with self.lock:
            deployment |= {"status": status, "finishedAt": self.moment(), "errorMessage": error}
            for service in (*self.applications, *self.composes):
                if service.get("applicationId") == deployment["applicationId"] and (
                    service.get("composeId") == deployment["composeId"]
                ):
                    self._set_status(service, status if status in ("done", "error") else "idle")

    def _set_status(self, service: dict[str, Any], status: str) -> None:
        service["applicationStatus" if "applicationId" in service else "composeStatus"] = status

    def _add_deployment(self, status: str, **columns: Any) -> dict[str, Any]:
        number = len(self.deployments) + 1
        deployment = {
            "deploymentId": self.id("deployment"), "title": f"Change {number}",
            "description": f"Commit: {SHA.format(number % 256)}", "status": status, "logPath": f"/etc/{CANARY}.log",
            "pid": CANARY, "applicationId": None, "composeId": None, "serverId": None, "isPreviewDeployment": False,
            "previewDeploymentId": None, "createdAt": self.moment(), "startedAt": self.moment(), "finishedAt": None,
            "errorMessage": None, "scheduleId": None, "rollbackId": None, **columns,
        }  # fmt: skip
        self.deployments.append(deployment)
        return deployment

    def remove(self, service: dict[str, Any]) -> None:
        """An application or a compose stack is deleted, with all that belongs to it."""
        with self.lock:
            (self.applications if "applicationId" in service else self.composes).remove(service)
            id = "applicationId" if "applicationId" in service else "composeId"
            previews = [row for row in self.previews if row["applicationId"] == service.get("applicationId")]
            gone = {row["previewDeploymentId"] for row in previews}
            for table in (self.domains, self.deployments):
                table[:] = [row for row in table if row[id] != service[id] and row["previewDeploymentId"] not in gone]
            self.previews[:] = [row for row in self.previews if row not in previews]


def task(state: str, current: str, error: str = "Error:") -> dict[str, str]:
    """As docker service ps tells it; where there is no error Dokploy leaves the heading standing."""
    return {
        "containerId": "c1", "name": "shop.1", "state": state, "currentState": current, "node": "node-1",
        "error": error,
    }  # fmt: skip
