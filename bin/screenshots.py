"""make screenshots: takes the pictures in docs/images anew, of a make demo-platform that was started just before.

It waits until there is something to see: up to four minutes.
"""

import html
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.browser.chromium import FLAGS, MISSING, find  # noqa: E402  (found in the line above)
from tests.fakes.demo import BREAKS, PERIOD  # noqa: E402

IMAGES = ROOT / "docs" / "images"
ADDRESS = f"http://localhost:{os.environ.get('PORT') or '8000'}"
MAX_BYTES = 120_000
WIDTH = 1100
LISTED = 8  # applications
STYLE = """
body { margin: 0; padding: 20px; background: #fff; font: 14px/1.5 "DejaVu Sans", sans-serif; color: #1f2933 }
h1 { font-size: 15px; margin: 0 0 14px } code, pre { font-family: "DejaVu Sans Mono", monospace; font-size: 12.5px }
.states { display: grid; grid-template-columns: 1fr 1fr; gap: 16px }
section { border: 1px solid #cbd2d9; border-radius: 6px; overflow: hidden }
h2 { margin: 0; padding: 6px 12px; font-size: 13px; background: #e4e7eb; font-weight: 600 }
pre { margin: 0; padding: 10px 0 } pre span { display: block; padding: 0 12px; white-space: pre-wrap }
.new { background: #fff3c4 }
"""


def main() -> None:
    if (program := find()) is None:
        sys.exit(MISSING)
    IMAGES.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        page = browser.new_page(viewport={"width": WIDTH, "height": 700})
        take_answers(page)
        take_admin(page)
        browser.close()


def take_answers(page: Page) -> None:
    name = f"Shop {BREAKS + 1}"

    def seen(status: str) -> Callable[[], Any]:
        return lambda: found if (found := health_of(name)) and found["edge"]["status"] == status else None

    healthy, first_list = wait_for(seen("up")), listed()
    at = [now()]
    down, second_list = wait_for(seen("down")), listed()
    at.append(now())
    shows = [{key: answer[key] for key in ("health", "reasons")} | edge_of(answer) for answer in (healthy, down)]
    two_states(page, "get_app_health", f"get_app_health of “{name}”", shows, at)
    two_states(page, "list_apps", "list_apps: name and status", [first_list, second_list], at)


def health_of(name: str) -> Any:
    """None: it was not synced yet."""
    ids = [app["id"] for app in ask("list_apps", limit=50)["items"] if app["name"] == name]
    return ask("get_app_health", applicationId=ids[0]) if ids else None


def edge_of(answer: dict[str, Any]) -> dict[str, Any]:
    edge = answer["edge"]
    kept = ("host", "reachable", "httpStatus", "latencyMs", "tls")
    domains = [{key: domain[key] for key in kept if key in domain} for domain in edge["domains"]]
    return {"edge": {"status": edge["status"], "domains": domains}}


def listed() -> list[str]:
    return [f"{app['name']:8} {app['status']}" for app in ask("list_apps", limit=LISTED)["items"]]


def two_states(page: Page, file: str, title: str, answers: list[Any], at: list[str]) -> None:
    """Side by side, with what differs marked in the second."""
    first, second = (lines_of(answer) for answer in answers)
    page.set_content(
        f"<style>{STYLE}</style><h1>{html.escape(title)}</h1><div class=states>"
        f"{state(at[0], first, first)}{state(at[1], second, first)}</div>"
    )
    page.set_viewport_size({"width": WIDTH, "height": 100})  # at least; the picture is as high as the page
    keep(file, page.screenshot(full_page=True))


def lines_of(answer: Any) -> list[str]:
    if isinstance(answer, list):
        return answer
    return json.dumps(answer, indent=2, ensure_ascii=False).splitlines()


def state(at: str, lines: list[str], before: list[str]) -> str:
    marked = "".join(f"<span{'' if line in before else ' class=new'}>{html.escape(line)}</span>" for line in lines)
    return f"<section><h2>{at}</h2><pre>{marked}</pre></section>"


def take_admin(page: Page) -> None:
    page.set_viewport_size({"width": WIDTH, "height": 360})
    page.goto(f"{ADDRESS}/admin/orgs/platform/")
    page.fill("[name=login]", os.environ.get("DEMO_EMAIL") or "demo@porthole.test")
    page.fill("[name=password]", os.environ.get("DEMO_PASSWORD") or "porthole-demo")
    page.click("main [type=submit]")
    page.goto(f"{ADDRESS}/admin/orgs/platform/")
    page.click("#toggle-nav-sidebar")  # the names of other lists are no news
    page.evaluate("scrollTo(0, 0)")
    keep("platforms", page.screenshot())
    page.click("#result_list a:has-text('Dokploy')")
    page.wait_for_selector("text=Next sync")
    while page.locator("text=Waiting for a worker").or_(page.locator("text=Syncing now")).count():
        time.sleep(1)
        page.reload()
    keep("platform", page.screenshot(full_page=True))


def ask(tool: str, **arguments: Any) -> Any:
    headers = {"Authorization": "Bearer porthole-local-dev", "Content-Type": "application/json"}
    request = Request(f"{ADDRESS}/api/v1/tools/{tool}", json.dumps(arguments).encode(), headers)  # noqa: S310
    with urlopen(request, timeout=30) as answer:  # noqa: S310  (loopback)
        return json.load(answer)


def wait_for(see: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + PERIOD + 60
    while time.monotonic() < deadline:
        if seen := see():
            return seen
        time.sleep(2)
    sys.exit("Nothing changes there. Is it make demo-platform that answers?")


def now() -> str:
    return time.strftime("%H:%M:%S", time.gmtime())


def keep(name: str, picture: bytes) -> None:
    if len(picture) > MAX_BYTES:
        sys.exit(f"{name}.png would have {len(picture)} bytes.")
    (IMAGES / f"{name}.png").write_bytes(picture)
    print(f"docs/images/{name}.png: {len(picture)} bytes")


if __name__ == "__main__":
    main()
