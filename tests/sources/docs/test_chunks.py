"""How one file becomes a page: headings, code, front matter, MDX and plain text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.sources.docs.chunks import Page, parse, slug
from apps.sources.docs.markup import plain
from tests.examples import examples


def headings(page: Page) -> list[tuple[str | None, str | None]]:
    return [(section.heading, section.anchor) for section in page.sections]


def test_a_page_is_cut_at_its_headings() -> None:
    page = parse(
        "a.md", "# Title\n\nTop.\n\n## One\n\nFirst.\n\n### Deep ###\n\nDeeper.\n\n## Two\nSecond.\n#hashtag\n"
    )

    assert page.title == "Title"
    assert headings(page) == [(None, None), ("One", "one"), ("Deep", "deep"), ("Two", "two")]
    assert [section.body for section in page.sections] == ["Top.", "First.", "Deeper.", "Second. #hashtag"]
    assert [section.trail for section in page.sections] == ["", "Title", "Title › One", "Title"]


@pytest.mark.parametrize(
    "code",
    [
        "```sh\n# not a heading\n```",
        "~~~\n# not a heading\n```\n# nor this\n~~~",
        "````md\n```\n# not a heading\n```\n````",
        "- step:\n\n  ```sh\n  # not a heading\n  ```",
        "- ```sh\n  # not a heading\n  ```",
        "    # not a heading",
        "<!--\n# not a heading\n-->",
        "a <!-- # --> b",
    ],
)
def test_what_looks_like_a_heading_in_code_or_comments_is_none(code: str) -> None:
    page = parse("a.md", f"# Title\n\n{code}\n\n## Real\n")

    assert headings(page) == [(None, None), ("Real", "real")]
    assert ("not a heading" in page.sections[0].body) == ("not a heading" in code and "<!--" not in code)


def test_a_code_block_that_never_ends_is_code_to_the_end() -> None:
    assert headings(parse("a.md", "# Title\n```\n## code\n``\n## code\n")) == [(None, None)]


def test_a_comment_in_a_code_span_hides_nothing() -> None:
    assert headings(parse("a.md", "Write `<!--` to begin.\n\n## Real\n")) == [(None, None), ("Real", "real")]


def test_underlined_headings_count_but_rules_and_tables_do_not() -> None:
    text = "Title\n=====\n\nText.\n\nPart\n----\n\nA\nparagraph\n---\n\n- item\n---\n\n| a |\n---\n\n---\n"

    page = parse("a.md", text)

    assert page.title == "Title"
    assert headings(page) == [(None, None), ("Part", "part")]


def test_front_matter_names_the_page_and_its_description_counts() -> None:
    front = 'title: "Environment: variables"\ndescription: >\n  Names,\n  never values.\ntags: [a]'
    text = f"---\n{front}\n---\n# Variables\n\nText.\n"

    page = parse("a.md", text)

    assert page.title == "Environment: variables"
    assert page.sections[0].body == "Names, never values. Variables Text."


@pytest.mark.parametrize("front", ["a: [", "- a\n- b", "d: 2024-99-99", "title: 7", "? {a: b}\n: c", ""])
def test_front_matter_that_cannot_be_read_is_left_out(front: str) -> None:
    page = parse("some/env-vars.md", f"---\n{front}\n---\nText.\n")

    assert (page.title, page.sections[0].body) == ("Env vars", "Text.")


@pytest.mark.parametrize(
    ("path", "title"), [("guides/README.md", "Guides"), ("index.mdx", "Documentation"), ("a/set_up.md", "Set up")]
)
def test_a_page_without_a_heading_is_named_after_its_file(path: str, title: str) -> None:
    assert parse(path, "Text.").title == title


def test_repeated_headings_get_the_anchors_github_gives_them() -> None:
    page = parse(
        "a.md", "# Usage\n## Usage\n## Usage-1\n## Usage\n## !?\n## Set `A_B` & *go*!\n## Über 日本\n## X {#own}\n"
    )

    assert [anchor for _, anchor in headings(page)] == [
        None,
        "usage-1",
        "usage-1-1",
        "usage-2",
        None,
        "set-a_b--go",
        "über-日本",
        "own",
    ]
    assert page.sections[-1].heading == "X"


def test_mdx_keeps_the_words_and_drops_the_machinery() -> None:
    text = """import Tabs from '@theme/Tabs'
import {
  Card,
} from "./cards"
export const meta = {
  hidden: ["# not a heading"],
}

# Deploying

{/* a
## hidden
*/}
<Card title="Quick start" icon={<Icon name="x" />} onClick={() => go({ a: 1 })}>
  Press **deploy**.
</Card>

import a file by hand.

```js title="config.js"
import kept from "code"
```
"""
    page = parse("a.mdx", text)

    assert headings(page) == [(None, None)]
    assert page.sections[0].body == (
        'Quick start Press deploy. import a file by hand. config.js import kept from "code"'
    )


@pytest.mark.parametrize(
    ("markdown", "text"),
    [
        ('see [the `guide`](a_(b).md "t") and ![alt](i.png)', "see the guide and alt"),
        ("[![badge](i.svg)](https://x.test) [a][b] <https://y.test>", "badge a https://y.test"),
        ("**bold** _em_ *em* ~~gone~~ __strong__", "bold em em gone strong"),
        ("`**kept**` snake_case_name and 2 * 3 * 4 and *.md", "**kept** snake_case_name and 2 * 3 * 4 and *.md"),
        ("> quoted\n> text\n\n- [x] done\n1. first", "quoted text done 1. first"),
        ("| a | b |\n|---|:-:|\n| `1` | 2 |", "a b 1 2"),
        ("`a|b` \\*not em\\* &amp; `&amp;` a<br/>b</p>", "a|b *not em* & &amp; a b"),
        ("> [!NOTE]\n> Mind.\n\n:::tip\nHint\n:::\n\n***\n[ref]: http://x.test", "NOTE Mind. tip Hint"),
        ("if a < b and c > d", "if a < b and c > d"),
        ("&#2;0&#3; \\`x`", "0 `x`"),
    ],
)
def test_markup_is_taken_out_of_prose(markdown: str, text: str) -> None:
    assert plain(markdown) == text


def test_text_files_are_one_section_named_by_their_first_line() -> None:
    page = parse("notes.rst", "=====\nNotes\n=====\n\n# kept **as is**\n")

    assert page.title == "Notes"
    assert page.sections[0].body.endswith("Notes ===== # kept **as is**")


def test_slugs_keep_letters_marks_digits_and_underscores() -> None:
    assert slug(" A b_C (2)? – é! ½ ") == "a-b_c-2--é-"


@examples()
@given(st.lists(st.sampled_from([*"[]()<>`*_~#{}!|-=\"'\\ \n&;a0:.", "```", "<!--", "-->", "---\n", "\n# ", "\x02"])))
def test_any_text_becomes_a_page(pieces: list[str]) -> None:
    for path in ("a.md", "a.mdx", "a.txt"):
        page = parse(path, "".join(pieces))

        assert page.title
        assert page.sections[0].heading is None
        anchors = [section.anchor for section in page.sections if section.anchor]
        assert len(anchors) == len(set(anchors))
