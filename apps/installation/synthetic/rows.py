"""What synthetic rows look like, table by table: names, times and states as deployment systems have them."""

from datetime import timedelta

from apps.installation.synthetic.sizes import Sizes
from apps.installation.synthetic.statements import Statement, Words
from apps.orgs import models as orgs
from apps.orgs.models.fields import WORD_SEPARATOR

ORGANIZATIONS, PROJECTS, APPS = "synthetic_organization", "synthetic_project", "synthetic_app"
YEAR, QUARTER = timedelta(days=365), timedelta(days=90)
SEPARATOR = f"'{WORD_SEPARATOR}'"
RARE = "zebra"  # in the name of one application of ten thousand
SERVICES = ("checkout", "invoice", "mail", "search", "payment", "catalogue", "session", "report", "Café", "media")
PARTS = ("api", "web", "worker", "cron", "proxy", "admin", "gateway")
VARIABLES = ("DATABASE_URL", "REDIS_URL", "SECRET_KEY", "LOG_LEVEL", "SENTRY_DSN")
TITLES = ("Deploy main", "Fix the sum of invoices", "Update dependencies", "Add a page for orders", "Revert a change")
BUSY = 10  # each tenth application has ten times as many deployments as others, and a preview
FAILS = "s.number % 23 = 5"  # of applications: their last deployments failed
UNREACHABLE = "s.number % 97 = 11"


def statements(sizes: Sizes, projects: int) -> list[Statement]:
    """In an order in which nothing refers to what comes later. `projects`: how many there are."""
    words = Words(sizes)
    return [
        *_organizations(sizes, words),
        *_projects(sizes, words, projects),
        *_applications(sizes, words),
        *_domains(sizes, words),
        *_names(sizes, words, projects),
        _previews(sizes, words),
        _deployments(sizes, words),
    ]


OWNED = {"organization_id": "s.organization_id", "platform_id": "s.organization + 1"}
OF_APP = OWNED | {
    "app_id": "s.id",
    "within_project_id": "s.project_id",
    "within_environment_id": "s.environment_id",
}


def _organizations(sizes: Sizes, words: Words) -> list[Statement]:
    number = sizes.organizations
    name = f"({words.one_of(0, 'Harbour', 'Lantern', 'Meadow', 'Orchard')} || ' ' || n)"
    of_each = {"organization_id": "s.id"}
    return [
        Statement(
            orgs.Organization, number,
            {"id": "s.id", "slug": "'synthetic-' || n", "name": name, "search_key": f"LOWER({name})",
             "plan": "'team'", "app_limit": "200000", "synced_at": words.ago("0")},
            ORGANIZATIONS,
        ),
        Statement(orgs.DataVersion, number, of_each, ORGANIZATIONS),
        Statement(
            orgs.Platform, number,
            of_each | {"kind": "'dokploy'", "version": "'v0.25.1'", "sync_period": "60", "detail_period": "900",
                       "last_sync_at": words.ago("0"), "last_sync_status": "'ok'"},
            ORGANIZATIONS,
        ),
        Statement(
            orgs.SourceConnection, number,
            of_each | {"id": words.id("con"), "platform_id": "n + 1", "external_id": "'github-' || n",
                       "type": "'github'", "name": "'GitHub ' || n", "sort_key": "'github ' || n",
                       "account_login": "'organization-' || n", "credentials": "'working'"},
            ORGANIZATIONS,
        ),
        Statement(orgs.Template, 200, _template(words, "n")),
        Statement(
            orgs.Template, 2 * number,
            _template(words, "(n + 200)") | {"organization_id": "s.id"},
            ORGANIZATIONS, f"n % {number}",
        ),
    ]  # fmt: skip


def _template(words: Words, number: str) -> dict[str, str]:
    name = f"({words.one_of(0, 'Blog', 'Wiki', 'Forum', 'Queue')} || ' ' || {number})"
    return {
        "id": words.id("tpl", number), "name": name, "sort_key": f"LOWER({name})", "description": "'Begins at once.'",
        "search_key": f"LOWER({name} || {SEPARATOR} || 'Begins at once.' || {SEPARATOR} || ',web,')", "tags": "',web,'",
    }  # fmt: skip


def _projects(sizes: Sizes, words: Words, number: int) -> list[Statement]:
    name = f"({words.one_of(0, *SERVICES)} || ' ' || n)"
    stage = "(CASE n % 2 WHEN 0 THEN 'production' ELSE 'staging' END)"
    return [
        Statement(
            orgs.Project, number,
            OWNED | {"id": "s.id", "external_id": "'p-' || n", "name": name, "sort_key": f"LOWER({name})",
                     "search_key": f"LOWER({name}) || {SEPARATOR}", "created_at": words.spread_over(YEAR, number)},
            PROJECTS,
        ),
        Statement(
            orgs.Environment, 2 * number,
            OWNED | {"id": words.id("env"), "project_id": "s.id", "external_id": "'e-' || n", "name": stage,
                     "sort_key": stage, "is_default": "n % 2 = 0"},
            PROJECTS, "n / 2",
        ),
    ]  # fmt: skip


def _applications(sizes: Sizes, words: Words) -> list[Statement]:
    rare = f"(CASE WHEN n % 10000 = 77 THEN '{RARE}-' ELSE '' END)"
    slug = f"({words.one_of(0, *SERVICES)} || '-' || {words.one_of(1, *PARTS)} || '-' || {rare} || n)"
    repository = f"('organization-' || s.organization || '/' || {words.one_of(0, *SERVICES)})"
    description = words.one_of(2, "Answers customers.", "Runs at night.", "For the team alone.")
    key = f" || {SEPARATOR} || ".join((slug, slug, description, repository))
    of_each = {"organization_id": "s.organization_id", "app_id": "s.id"}
    return [
        Statement(
            orgs.App, sizes.apps,
            OWNED | {
                "id": "s.id", "project_id": "s.project_id", "environment_id": "s.environment_id",
                "external_id": "'a-' || n", "name": slug, "slug": slug, "description": description,
                "sort_key": f"LOWER({slug})", "search_key": f"LOWER({key})", "kind": "'application'",
                "status": words.one_of(3, *["deployed"] * 16, "idle", "idle", "error", "deploying"),
                "source_type": "'github'", "repository": repository,
                "branch": words.one_of(4, *["main"] * 8, "develop", "release"),
                "connection_id": words.id("con", "s.organization"),
                "primary_url": f"'https://' || {host_of('n')} || '/'",
                "last_deployed_at": words.spread_over(QUARTER, sizes.apps),
                "dashboard_url": "'https://platform.example/application/' || n",
                "created_at": words.spread_over(YEAR, sizes.apps),
                "detail_read_at": words.ago("0"),
                "hidden_at": f"CASE WHEN n % 500 = 499 THEN {words.ago('3600')} END",
            },
            APPS,
        ),
        Statement(
            orgs.EdgeStatistics, sizes.apps,
            of_each | {"checked_at": words.ago("30"), "uptime_24h": "0.999", "latency_p50_ms": "40",
                       "latency_p95_ms": words.drawn(0, 400)},
            APPS,
        ),
        Statement(
            orgs.RuntimeFact, sizes.apps,
            of_each | {"platform_id": "s.organization + 1", "checked_at": words.ago("30"), "desired_replicas": "1",
                       "running_replicas": "1",
                       "instances": """'[{"state": "running", "since": null, "message": null}]'"""},
            APPS,
        ),
    ]  # fmt: skip


def host_of(number: str) -> str:
    return f"('a' || ({number}) || '.example.com')"


def _domains(sizes: Sizes, words: Words) -> list[Statement]:
    """Each application has one, each tenth also one that is disabled."""
    busy = -(-sizes.apps // BUSY)
    of_domain = OF_APP | {"https": "1 = 1", "port": "3000", "certificate_type": "'letsencrypt'"}
    disabled = f"n + {sizes.apps}"
    return [
        Statement(
            orgs.Domain, sizes.apps,
            of_domain | {"id": words.id("dom"), "external_id": "'d-' || n", "host": host_of("n"),
                         "created_at": words.spread_over(YEAR, sizes.apps)},
            APPS,
        ),
        Statement(
            orgs.Domain, busy,
            of_domain | {"id": words.id("dom", disabled), "external_id": f"'d-' || ({disabled})",
                         "host": f"'www.' || {host_of('s.number')}", "is_enabled": "1 = 0",
                         "created_at": words.spread_over(YEAR, busy)},
            APPS, f"n * {BUSY}",
        ),
        Statement(
            orgs.EdgeFact, sizes.apps,
            {"domain_id": words.id("dom"), "organization_id": "s.organization_id", "checked_at": words.ago("30"),
             "reachable": f"NOT ({UNREACHABLE})", "http_status": f"CASE WHEN {UNREACHABLE} THEN NULL ELSE 200 END",
             "latency_ms": words.drawn(0, 400), "dns_status": "'resolves'",
             "tls_issuer": f"CASE WHEN {UNREACHABLE} THEN NULL ELSE 'Lets Encrypt R11' END",
             "tls_not_after": f"CASE WHEN {UNREACHABLE} THEN NULL ELSE {certificate_ends(words)} END",
             "tls_is_valid": f"CASE WHEN {UNREACHABLE} THEN NULL ELSE 1 = 1 END",
             "error": f"CASE WHEN {UNREACHABLE} THEN 'connection refused' END", "period": "NULL"},
            APPS,
        ),
    ]  # fmt: skip


def certificate_ends(words: Words) -> str:
    return words.ago(f"-86400 * (1 + {words.drawn(1, 89)})")


def _names(sizes: Sizes, words: Words, projects: int) -> list[Statement]:
    """Four variables of each application, three of each project, and many of the very first application."""
    many = max(1, sizes.largest // 10)
    name = f"CASE WHEN n % 2 = 0 THEN {words.one_of(0, *VARIABLES)} ELSE 'FEATURE_' || (n % 1000) END"
    of_name = {"updated_at": words.ago("86400")}
    first, second = f"(n + {4 * sizes.apps})", f"(n + {4 * sizes.apps + many})"
    secret = words.one_of(0, *VARIABLES)
    at_project = {"project_id": "s.id", "within_project_id": "s.id", "scope": "'project'"}
    return [
        Statement(
            orgs.EnvVarName, 4 * sizes.apps,
            OF_APP | of_name | {"id": words.id("var"), "name": f"{name} || '_' || (n % 4)",
                                "sort_key": f"LOWER({name} || '_' || (n % 4))",
                                "scope": "CASE n % 7 WHEN 1 THEN 'build' ELSE 'app' END"},
            APPS, "n / 4",
        ),
        Statement(
            orgs.EnvVarName, many,
            OF_APP | of_name | {"id": words.id("var", first), "name": "'MANY_' || n", "sort_key": "'many_' || n",
                                "scope": "'app'"},
            APPS, "n * 0",
        ),
        Statement(
            orgs.EnvVarName, 3 * projects,
            OWNED | of_name | at_project | {"id": words.id("var", second), "name": "'SHARED_' || (n % 3)",
                                            "sort_key": "'shared_' || (n % 3)"},
            PROJECTS, "n / 3",
        ),
        Statement(
            orgs.OrgSecretName, 3 * sizes.organizations,
            {"organization_id": "s.id", "platform_id": "s.number + 1", "id": words.id("sec"),
             "name": f"{secret} || '_' || (n % 3)", "sort_key": f"LOWER({secret} || '_' || (n % 3))",
             "scope": "'organization'", "provider": "'dokploy'", "updated_at": words.ago("86400")},
            ORGANIZATIONS, "n / 3",
        ),
    ]  # fmt: skip


def _previews(sizes: Sizes, words: Words) -> Statement:
    number = -(-sizes.apps // BUSY)
    return Statement(
        orgs.Preview, number,
        OF_APP | {
            "id": words.id("prv"), "external_id": "'v-' || n", "pull_request_number": "n % 1000 + 1",
            "pull_request_title": words.one_of(0, *TITLES), "branch": "'feature-' || n",
            "pull_request_url": "'https://github.com/organization/repository/pull/' || (n % 1000 + 1)",
            "url": f"'https://preview-' || {host_of('n')} || '/'",
            "status": words.one_of(1, *["deployed"] * 8, "error", "idle"),
            "created_at": words.spread_over(QUARTER, number),
        },
        APPS, f"n * {BUSY}",
    )  # fmt: skip


def _deployments(sizes: Sizes, words: Words) -> Statement:
    """In the order of time, the oldest last: one in a hundred of the very first application, of the others every
    second of a busy one. Each fifth deploys a preview, whose deployment's preview may be gone."""
    busy = -(-sizes.apps // BUSY)
    app = (
        f"CASE WHEN n % 100 = 0 THEN 0 WHEN n % 2 = 0 THEN {words.scattered('n / 2', sizes.apps)} "
        f"ELSE {words.scattered('n / 2', busy)} * {BUSY} END"
    )
    title = f"({words.one_of(0, *TITLES)} || ' (' || n || ')')"
    created = f"CAST(n AS bigint) * {int(YEAR.total_seconds())} / {sizes.deployments} + 60"
    is_preview = f"{words.drawn(1, 5)} = 0"
    preview = words.id("prv", f"s.number / {BUSY}")
    drawn = words.one_of(2, *["succeeded"] * 16, "failed", "failed", "cancelled", "succeeded")
    return Statement(
        orgs.Deployment, sizes.deployments,
        OF_APP | {
            "id": words.id("dep"), "external_id": "'x-' || n", "is_preview": is_preview,
            "preview_id": f"CASE WHEN {is_preview} AND s.number % {BUSY} = 0 THEN {preview} END",
            "status": f"CASE WHEN {FAILS} AND n < 3 * {sizes.apps} THEN 'failed' ELSE {drawn} END",
            "title": title, "search_key": f"LOWER({title})", "commit_sha": "MD5('commit-' || n)",
            "commit_message": title, "branch": words.one_of(3, *["main"] * 8, "develop", "release"),
            "author": words.one_of(4, "Ada", "Grace", "Alan", "Edsger"),
            "trigger": words.one_of(5, "webhook", "webhook", "webhook", "api", "manual"),
            "created_at": words.ago(created), "started_at": words.ago(f"{created} - 5"),
            "finished_at": words.ago(f"{created} - 50"),
            "dashboard_url": "'https://platform.example/deployment/' || n",
        },
        APPS, app,
    )  # fmt: skip
