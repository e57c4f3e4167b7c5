"""What compose.yaml and the base for Kubernetes promise of every container, whatever is added to them."""

from typing import Any

import yaml

from tests.config.server import BASE_DIR

COMPOSE: dict[str, Any] = yaml.safe_load((BASE_DIR / "compose.yaml").read_text())
PODS = [
    document["spec"]["template"]["spec"]
    for file in (BASE_DIR / "deploy/kubernetes/base").glob("*.yaml")
    for document in yaml.safe_load_all(file.read_text())
    if "template" in document.get("spec", {})
]
CONTAINERS = [one for pod in PODS for one in [*pod["initContainers"], *pod["containers"]]]


def test_every_service_is_hardened() -> None:
    assert len(COMPOSE["services"]) == 5
    for name, service in COMPOSE["services"].items():
        assert service["read_only"] is True, name
        assert service["cap_drop"] == ["ALL"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name
        assert service.get("cap_add", []) == (["NET_BIND_SERVICE"] if name == "caddy" else []), name
        assert "privileged" not in service, name


def test_only_caddy_has_ports_and_the_database_no_network() -> None:
    services = COMPOSE["services"]
    assert [name for name, service in services.items() if "ports" in service] == ["caddy"]
    assert services["database"]["network_mode"] == "none"
    assert [name for name, service in services.items() if "proxy" in service.get("networks", [])] == ["web", "caddy"]


def test_every_container_in_kubernetes_is_confined() -> None:
    assert [one["name"] for one in CONTAINERS] == ["setup", "web", "worker"]
    for one in CONTAINERS:
        context = one["securityContext"]
        assert (context["allowPrivilegeEscalation"], context["readOnlyRootFilesystem"]) == (False, True)
        assert context["capabilities"] == {"drop": ["ALL"]}
        assert {"requests", "limits"} <= one["resources"].keys()
    for pod in PODS:
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert (pod["automountServiceAccountToken"], pod["enableServiceLinks"]) == (False, False)


def test_the_image_runs_as_a_number_that_kubernetes_and_the_docs_know() -> None:
    image = (BASE_DIR / "Dockerfile").read_text()
    user = PODS[0]["securityContext"]["runAsUser"]
    assert f"\nUSER {user}:{user}\n" in image
    assert f"--uid {user} " in image
    assert f"own user, {user}," in (BASE_DIR / "docs/containers.md").read_text().replace("\n", " ")


def test_the_build_is_sent_only_what_is_named() -> None:
    """Everything is left out first; what comes after is named, and of that hidden and compiled files are not sent."""
    lines = [line for line in (BASE_DIR / ".dockerignore").read_text().splitlines() if not line.startswith("#")]
    named = {line.removeprefix("!") for line in lines if line.startswith("!")}
    assert lines[0] == "*"
    assert named == {"apps", "config", "docs", "templates", "manage.py", "requirements.txt", "LICENSE"}
    assert lines[-3:] == ["**/__pycache__", "**/*.pyc", "**/.*"]
