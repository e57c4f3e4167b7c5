"""The first page, in a real browser: lines are copied with one click, where the browser lets pages do that."""

from tests.browser.conftest import Visit


def test_a_line_is_copied_with_one_click(visit: Visit) -> None:
    visit.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    visit.open("/")
    block = visit.page.locator(".copyable:has-text('claude mcp add')")
    block.locator("button").click()
    block.locator("text=Copied").wait_for()
    line = block.locator("code").inner_text()
    assert visit.page.evaluate("navigator.clipboard.readText()") == line
    assert line == "claude mcp add --transport http porthole http://localhost:8000/mcp"
    assert visit.was_quiet()
