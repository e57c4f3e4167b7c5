"""Manifests of many applications, written line by line: as export_manifest writes them, about 670 bytes each."""

from pathlib import Path

PROJECT_SIZE = 500
ROWS_OF_EACH = 5
HEAD = "version: 1\nconnections:\n  - key: gh\n    type: github\n    name: GitHub\nprojects:\n"
PROJECT = """\
  - key: project-{number:04}
    name: Project {number}
    createdAt: 2026-01-31T12:00:00Z
    environments:
      - key: project-{number:04}-production
        name: production
        isDefault: true
    apps:
"""
APP = """\
      - key: app-{number:06}
        name: App {number}
        slug: app-{number:06}
        environment: project-{project:04}-production
        status: deployed
        source:
          type: github
          repository: acme/app-{number:06}
          branch: main
          connection: gh
        createdAt: 2026-01-31T12:00:00Z
        variables:
          - DATABASE_URL
          - LOG_LEVEL
        domains:
          - key: domain-{number:06}
            host: app-{number:06}.example.com
            createdAt: 2026-01-31T12:00:00Z
        deployments:
          - key: deployment-{number:06}
            title: Release {number}
            status: succeeded
            createdAt: 2026-01-31T12:00:00Z
"""


def write_large_manifest(file: Path, apps: int) -> None:
    """Writes `apps` applications, each with two variables, a domain and a deployment, 500 in a project."""
    with file.open("w", encoding="utf-8", newline="\n") as opened:
        opened.write(HEAD)
        for number in range(apps):
            if number % PROJECT_SIZE == 0:
                opened.write(PROJECT.format(number=number // PROJECT_SIZE))
            opened.write(APP.format(number=number, project=number // PROJECT_SIZE))
