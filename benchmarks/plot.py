"""The picture of a result: a bar for each variant, its name above it, so that it can be read on a telephone too."""

from typing import Any
from xml.sax.saxutils import escape

WIDTH, ROW, TOP, MARGIN = 460, 40, 46, 12
OURS = ("hit", "miss", "unchanged", "mcp hit", "mcp miss", "fixed bearer")
# The colours follow the reader's browser, not the page: a picture does not know where it is shown.
STYLE = """
svg { color-scheme: light dark; background: #ffffff }
text { font: 14px system-ui, sans-serif; fill: #1f2328 }
.title { font-weight: 600 }
.value { text-anchor: end; font-variant-numeric: tabular-nums }
.ours { fill: #0b6e6e } .peer { fill: #9aa4ae } .spread { stroke: #1f2328 }
@media (prefers-color-scheme: dark) {
  svg { background: #14181c }
  text { fill: #e6e9ec }
  .ours { fill: #3fb8b0 } .peer { fill: #66707a } .spread { stroke: #e6e9ec }
}
""".strip()


def drawn(result: dict[str, Any]) -> str:
    """SVG. A line on each bar reaches from the slowest round to the quickest. `hello` would dwarf all others."""
    variants = result["databases"]["postgresql"]["variants"]
    ordered = sorted(variants.items(), key=lambda it: -it[1]["per_second"])
    ordered = [(name, it) for name, it in ordered if name != "hello"]
    most = max(max(it["rounds"]) for _, it in ordered)
    height = TOP + ROW * len(ordered) + MARGIN
    title = "Requests per second: list_apps, one core"
    rows = "\n".join(_row(number, name, it, most) for number, (name, it) in enumerate(ordered))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{title}">\n'
        f"<style>\n{STYLE}\n</style>\n"
        f'<text class="title" x="{MARGIN}" y="24">{title}</text>\n{rows}\n</svg>\n'
    )


def _row(number: int, name: str, variant: dict[str, Any], most: float) -> str:
    scale, top = (WIDTH - 2 * MARGIN) / most, TOP + ROW * number
    low, high = (MARGIN + scale * found for found in (min(variant["rounds"]), max(variant["rounds"])))
    kind, width = "ours" if name in OURS else "peer", scale * variant["per_second"]
    return (
        f'<text x="{MARGIN}" y="{top + 12}">{escape(variant["what"].replace("`", ""))}</text>'
        f'<text class="value" x="{WIDTH - MARGIN}" y="{top + 12}">{variant["per_second"]:,.0f}</text>'
        f'<rect class="{kind}" x="{MARGIN}" y="{top + 18}" width="{width:.1f}" height="12" rx="2"/>'
        f'<path class="spread" d="M{low:.1f} {top + 24}H{high:.1f}" stroke-width="1.5"/>'
    )
