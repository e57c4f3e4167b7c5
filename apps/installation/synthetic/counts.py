"""The kept counts of synthetic organizations, as `apps.orgs.counts` counts one organization's rows."""

from apps.installation.synthetic.rows import ORGANIZATIONS, PROJECTS
from apps.installation.synthetic.sizes import Sizes
from apps.installation.synthetic.statements import Statement, Words
from apps.orgs import models as orgs
from apps.orgs.counts import REMEMBERED
from apps.orgs.overview import hour_of, moment_of

OF_ORGANIZATION, OF_PROJECT = "r.organization_id = s.id", "r.project_id = s.id AND r.hidden_at IS NULL"
HIDDEN = f"SELECT h.id FROM {orgs.App._meta.db_table} h WHERE h.organization_id = s.id AND h.hidden_at IS NOT NULL"
VISIBLE = f"{OF_ORGANIZATION} AND r.app_id NOT IN ({HIDDEN})"


def counts(sizes: Sizes, projects: int) -> list[Statement]:
    """It needs the indexes of organizations and projects. One statement each, where one by one takes minutes."""
    words = Words(sizes)
    since = moment_of(hour_of(sizes.now - REMEMBERED))
    hour = words.hour("r.created_at")
    recent = f"{VISIBLE} AND r.created_at >= {words.moment(since)}"
    of_project = {"project_id": "s.id", "apps": _number(orgs.App, OF_PROJECT)}
    version = f"SELECT r.data_version FROM {orgs.DataVersion._meta.db_table} r WHERE {OF_ORGANIZATION}"
    return [
        Statement(orgs.ProjectCounts, projects, of_project, PROJECTS),
        Statement(
            orgs.OrganizationCounts, sizes.organizations,
            {
                "organization_id": "s.id",
                "data_version": f"({version})",
                "projects": _number(orgs.Project, OF_ORGANIZATION),
                "apps": _numbers(words, orgs.App, "r.status", f"{OF_ORGANIZATION} AND r.hidden_at IS NULL"),
                "domains": _number(orgs.Domain, VISIBLE), "previews": _number(orgs.Preview, VISIBLE),
                "deployments": _numbers(words, orgs.Deployment, hour, recent),
                "counted_since": words.moment(since),
            },
            ORGANIZATIONS,
        ),
    ]  # fmt: skip


def _number(model: type[orgs.App | orgs.Project | orgs.Domain | orgs.Preview], condition: str) -> str:
    return f"(SELECT COUNT(*) FROM {model._meta.db_table} r WHERE {condition})"


def _numbers(words: Words, model: type[orgs.App | orgs.Deployment], by: str, condition: str) -> str:
    grouped = f"SELECT {by} AS word, COUNT(*) AS number FROM {model._meta.db_table} r WHERE {condition} GROUP BY 1"
    return f"(SELECT {words.json_object('word', 'number')} FROM ({grouped}) g)"
