"""What a fake Dokploy answers, by version: a procedure each."""

from collections.abc import Callable
from typing import Any

from tests.fakes.dokploy_rows import CANARY, Rows

SECRET_ACCOUNT = {"githubPrivateKey": CANARY, "githubClientSecret": CANARY, "githubInstallationId": "1"}
NEWEST = (9999,)


class Missing(Exception):
    """An unknown id."""


class Answers:
    def __init__(self, rows: Rows, version: str) -> None:
        self.rows, self.version = rows, version
        self.numbers = tuple(map(int, version.split("."))) if version[:1].isdigit() else NEWEST

    def procedures(self) -> dict[str, Callable[[dict[str, str]], Any]]:
        """What this version has."""
        rows = self.rows
        found: dict[str, Callable[[dict[str, str]], Any]] = {
            "settings.getDokployVersion": lambda query: f"v{self.version}",
            "organization.all": self._organizations,
            "user.get": self._member,
            "project.all": self._projects,
            "gitProvider.getAll": self._providers,
            "application.one": lambda query: self._one(rows.applications, "applicationId", query),
            "compose.one": lambda query: self._one(rows.composes, "composeId", query),
            "domain.byApplicationId": lambda query: _where(rows.domains, "applicationId", query),
            "domain.byComposeId": lambda query: _where(rows.domains, "composeId", query),
            "deployment.all": lambda query: _where(rows.deployments, "applicationId", query),
            "deployment.allByCompose": lambda query: _where(rows.deployments, "composeId", query),
            "previewDeployment.all": self._previews,
            "docker.getServiceContainersByAppName": lambda query: rows.tasks.get(query["appName"], []),
            "compose.templates": lambda query: rows.templates,
        }
        if self.numbers >= (0, 28, 5):
            session = {"user": {"id": "user-1"}, "session": {"activeOrganizationId": rows.organization["id"]}}
            found["user.session"] = lambda query: session
        if self.numbers >= (0, 28, 3):
            found["deployment.allCentralized"] = self._deployments
        if self.numbers >= (0, 30):
            found["overview.domains"] = self._overview_domains
            found["vaultProvider.all"] = self._vaults
            found["vaultProvider.listSecretNames"] = lambda query: rows.secret_names
        return found

    def _organizations(self, query: dict[str, str]) -> list[dict[str, Any]]:
        other = {"id": "org-other", "name": "Other", "members": [{"role": "owner"}]}
        mine = dict(self.rows.organization)
        if self.numbers >= (0, 28):
            mine["members"] = [{"userId": "user-1", "role": self.rows.role}]
        return [other, mine]

    def _member(self, query: dict[str, str]) -> dict[str, Any]:
        user = {"id": "user-1", "email": f"{CANARY}@example.com", "apiKeys": [{"key": CANARY}]}
        return {"organizationId": self.rows.organization["id"], "role": self.rows.role, "user": user}

    def _projects(self, query: dict[str, str]) -> list[dict[str, Any]]:
        return [self._project(project) for project in reversed(self.rows.projects)]

    def _project(self, project: dict[str, Any]) -> dict[str, Any]:
        if self.numbers < (0, 25):
            return project | self._services("projectId", project["projectId"])
        mine = [row for row in self.rows.environments if row["projectId"] == project["projectId"]]
        names = ("environmentId", "name", "isDefault") if self.numbers >= (0, 29) else tuple(mine[0])
        return project | {
            "environments": [
                {name: row[name] for name in names} | self._services("environmentId", row["environmentId"])
                for row in mine
            ]
        }

    def _services(self, by: str, key: str) -> dict[str, Any]:
        applications = [self._whole(row) for row in self.rows.applications if row[by] == key]
        composes = [self._whole(row) for row in self.rows.composes if row[by] == key]
        if self.numbers >= (0, 29):
            applications = [_slim(row, "applicationId", "name", "applicationStatus") for row in applications]
            composes = [_slim(row, "composeId", "name", "composeStatus") for row in composes]
        return {"applications": applications, "compose": composes, "postgres": [{"postgresId": "pg-1"}], "redis": []}

    def _whole(self, row: dict[str, Any]) -> dict[str, Any]:
        """As its table has it in this version: without environments before 0.25, and then without a project."""
        gone = "environmentId" if self.numbers < (0, 25) else "projectId"
        return {name: value for name, value in row.items() if name != gone}

    def _one(self, table: list[dict[str, Any]], by: str, query: dict[str, str]) -> dict[str, Any]:
        row = next((row for row in table if row[by] == query[by]), None)
        if row is None:
            raise Missing
        environment = next(e for e in self.rows.environments if e["environmentId"] == row["environmentId"])
        project = next(p for p in self.rows.projects if p["projectId"] == row["projectId"])
        place = {"project": project} if self.numbers < (0, 25) else {"environment": environment | {"project": project}}
        return self._whole(row) | place | {
            "domains": _where(self.rows.domains, by, query),
            "deployments": _where(self.rows.deployments, by, query),
            "previewDeployments": _where(self.rows.previews, by, query) if by == "applicationId" else [],
            "github": SECRET_ACCOUNT if self.numbers < (0, 29, 13) or by == "composeId" else None,
            "mounts": [{"content": CANARY}],
            "registry": {"password": CANARY},
        }  # fmt: skip

    def _previews(self, query: dict[str, str]) -> list[dict[str, Any]]:
        return [
            preview
            | {
                "deployments": _where(self.rows.deployments, "previewDeploymentId", preview),
                "domain": next((row for row in self.rows.domains if row["domainId"] == preview["domainId"]), None),
            }
            for preview in _where(self.rows.previews, "applicationId", query)
        ]

    def _deployments(self, query: dict[str, str]) -> list[dict[str, Any]]:
        """Of applications and compose stacks, not of previews."""
        mine = [row for row in self.rows.deployments if row["applicationId"] or row["composeId"]]
        return sorted(mine, key=lambda row: row["createdAt"], reverse=True)

    def _overview_domains(self, query: dict[str, str]) -> list[dict[str, Any]]:
        previews = {row["previewDeploymentId"]: row["applicationId"] for row in self.rows.previews}
        told = []
        for row in self.rows.domains:
            owner = row["applicationId"] or row["composeId"] or previews[row["previewDeploymentId"]]
            names = (
                "domainId",
                "host",
                "path",
                "port",
                "https",
                "certificateType",
                "createdAt",
                "enabled",
                "domainType",
            )
            kind = "compose" if row["composeId"] else "application"
            told.append(_slim(row, *names) | {"serviceOwnerId": owner, "serviceOwnerType": kind})
        return told

    def _providers(self, query: dict[str, str]) -> list[dict[str, Any]]:
        tells = self.numbers >= (0, 29)
        github = {"githubId": "gh-1", "githubUrl": "https://github.com"}
        github |= {"isConfigured": True} if tells else SECRET_ACCOUNT
        gitlab = {"gitlabId": "gl-1", "gitlabUrl": "https://gitlab.example.com"}
        gitlab |= {"isConfigured": False} if tells else {"accessToken": None, "refreshToken": None, "secret": CANARY}
        bitbucket = {"bitbucketId": "bb-1", "bitbucketUsername": "acme-bot"}
        bitbucket |= {"isConfigured": False} if tells else {"appPassword": CANARY}
        none = {"github": None, "gitlab": None, "bitbucket": None, "gitea": None}
        return [
            none | {"gitProviderId": f"provider-{number}", "name": f"Acme {type}", "providerType": type, type: account}
            for number, (type, account) in enumerate(
                [("github", github), ("gitlab", gitlab), ("bitbucket", bitbucket)], start=1
            )
        ]

    def _vaults(self, query: dict[str, str]) -> list[dict[str, Any]]:
        assigned = [{"projectId": self.rows.projects[0]["projectId"], "environmentIds": []}]
        return [
            {"vaultProviderId": "vault-1", "name": "Main", "providerType": "hashicorp", "config": {"token": CANARY},
             "assignments": assigned},
            {"vaultProviderId": "vault-2", "name": "Unused", "providerType": "aws", "config": {}, "assignments": []},
        ]  # fmt: skip


def _where(table: list[dict[str, Any]], column: str, query: dict[str, Any]) -> list[dict[str, Any]]:
    """Newest first; nothing for an unknown id, as the real one."""
    return [row for row in reversed(table) if row[column] == query[column]]


def _slim(row: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: row[name] for name in names}
