"""The timetables of synthetic applications' health."""

from apps.installation.synthetic.rows import APPS, UNREACHABLE, certificate_ends, host_of
from apps.installation.synthetic.sizes import Sizes
from apps.installation.synthetic.statements import Statement, Words
from apps.orgs import models as orgs
from apps.orgs.overview import FOREVER


def timetables(sizes: Sizes) -> Statement:
    """What `apps.orgs.timetables` works out of the facts above. It needs the index of an application's deployments."""
    words = Words(sizes)
    last = (
        f"(SELECT d.status FROM {orgs.Deployment._meta.db_table} d WHERE d.app_id = s.id AND NOT d.is_preview "
        "ORDER BY d.created_at DESC, d.id DESC LIMIT 1)"
    )
    of_status = f"(SELECT a.status FROM {orgs.App._meta.db_table} a WHERE a.id = s.id)"
    failed, erring = f"COALESCE({last} = 'failed', 1 = 0)", f"{of_status} = 'error'"
    deploying, host = f"{of_status} = 'deploying'", host_of("n")
    deployment = f"CASE WHEN {failed} THEN 'The last deployment failed.' WHEN {erring} THEN " \
        "'The platform says that it is in error.' "  # fmt: skip
    has_second = f"NOT ({deploying} OR {UNREACHABLE} OR {failed} OR {erring})"
    far, ends = words.moment(FOREVER), certificate_ends(words)
    return Statement(
        orgs.HealthTimetable, sizes.apps,
        {
            "app_id": "s.id", "organization_id": "s.organization_id", "holds": "'always'",
            "level_1": f"CASE WHEN {deploying} THEN 'deploying' WHEN {UNREACHABLE} THEN 'down' "
            f"WHEN {failed} OR {erring} THEN 'degraded' ELSE 'healthy' END",
            "reason_1": f"CASE WHEN {deploying} THEN 'A deployment is in progress.' ELSE {deployment} "
            f"WHEN {UNREACHABLE} THEN {host} || ' did not answer.' ELSE 'Running instances: 1 of 1.' END END",
            "until_1": f"CASE WHEN {has_second} THEN {ends} ELSE {far} END",
            "level_2": f"CASE WHEN {has_second} THEN 'degraded' END",
            "reason_2": f"CASE WHEN {has_second} THEN 'The certificate of ' || {host} || ' has expired.' END",
            "until_2": f"CASE WHEN {has_second} THEN {far} END",
        },
        APPS,
    )  # fmt: skip
