"""axe-core, the judge of pages, run inside one: what keeps people from using it."""

from typing import Any

import pytest
from playwright.sync_api import Page

from config.settings import BASE_DIR

SCRIPT = BASE_DIR / "tests/clients/node_modules/axe-core/axe.min.js"
# Everything that is on by itself (WCAG 2 A and AA, best practices), and what has to be switched on: WCAG 2.2 AA.
OPTIONS = {"rules": {"target-size": {"enabled": True}}, "resultTypes": ["violations"]}
COLOURS = ("color-contrast", "link-in-text-block")  # all rules that another colour scheme can change
# All rules that another width can change: what is there is the same, but may be hidden, smaller or to be scrolled.
LAYOUT = ("target-size", "scrollable-region-focusable", "region", "page-has-heading-one", "landmark-one-main", "bypass")


def source() -> str:
    """The script. Evaluated by the browser's debugger, it needs no leave from the page's Content-Security-Policy."""
    if not SCRIPT.exists():
        pytest.fail("axe-core is missing: bin/npm-packages installs it (make test does).", pytrace=False)
    return SCRIPT.read_text()


def violations(page: Page, leave_out: tuple[str, ...] = (), rules: tuple[str, ...] = ()) -> list[str]:
    """One line each: the rule and the elements. `leave_out`: selectors of parts that are not asked about."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(source())
    context = {"exclude": [[selector] for selector in leave_out]}
    options = OPTIONS | {"runOnly": rules} if rules else OPTIONS
    result: dict[str, Any] = page.evaluate("([context, options]) => axe.run(context, options)", [context, options])
    return [
        f"{found['id']}: {node['html'][:200]} {node['failureSummary']}"
        for found in result["violations"]
        for node in found["nodes"]
    ]
