"""Forty questions about the demo: each is answered, in few calls and few words, with ids from earlier answers only."""

import re
from collections import Counter
from statistics import mean
from typing import Any

import pytest

from apps.tools.base import ListTool, PageInput
from apps.tools.paging import PAGE_BYTES
from apps.tools.registry import TOOLS
from tests.agent.fleet import add_fleet
from tests.agent.questions import QUESTIONS, Question, ask, found, question_of, says
from tests.mcp_clients.client import McpClient

MEAN_CALLS, MAX_CALLS = 1.8, 4
MEAN_TOKENS, BYTES_A_TOKEN = 1200, 3
AN_ID = re.compile(r"\b[a-z]{3}_[0-9a-z]{20,}")
PAGING = {*PageInput().fields, "ifVersion"}


def test_each_is_answered_in_few_calls_and_few_words(client: McpClient) -> None:
    transcripts = [ask(client, question) for question in QUESTIONS]
    assert [problem for transcript in transcripts for problem in transcript.wrong()] == []
    calls = [len(transcript.sizes) for transcript in transcripts]
    assert calls == [len(question.calls) for question in QUESTIONS]
    assert max(calls) <= MAX_CALLS
    assert mean(calls) <= MEAN_CALLS
    assert mean(sum(transcript.sizes) / BYTES_A_TOKEN for transcript in transcripts) <= MEAN_TOKENS


@pytest.mark.soak
def test_with_500_applications_calls_grow_by_pages_of_lists_across_them_only(client: McpClient) -> None:
    add_fleet()
    transcripts = [ask(client, question) for question in QUESTIONS]
    count = next(transcript for transcript in transcripts if "get_account" in dict(transcript.question.calls))
    assert count.answers["1"]["resources"]["apps"]["total"] == 500
    others = [transcript for transcript in transcripts if transcript is not count]
    assert [problem for transcript in others for problem in transcript.wrong(is_whole=False)] == []
    grown = {transcript.question.asks for transcript in transcripts if any(map(more_than_one, transcript.pages))}
    assert grown
    assert grown <= {question.asks for question in QUESTIONS if "across" in question.about}
    for transcript in transcripts:
        for (tool, _), pages in zip(transcript.question.calls, transcript.pages, strict=True):
            assert all(is_full(tool, *page) for page in pages[:-1]), (transcript.question.asks, pages)


def more_than_one(pages: list[tuple[int, int]]) -> bool:
    return len(pages) > 1


def is_full(tool: str, items: int, size: int) -> bool:
    return items == TOOLS[tool].default_limit or size > 0.95 * PAGE_BYTES


def test_there_are_enough_of_each_kind() -> None:
    assert len({question.asks for question in QUESTIONS}) == 40
    kinds = Counter(kind for question in QUESTIONS for kind in question.about)
    assert set(kinds) == {"across", "cause", "files", "unknown"}
    assert kinds["across"] >= 12
    assert kinds["cause"] >= 6
    assert kinds["unknown"] >= 5
    assert kinds["files"] >= 3
    for question in QUESTIONS:
        tool, given = question.calls[0]
        assert "across" not in question.about or isinstance(TOOLS[tool], ListTool), question.asks
        assert "across" not in question.about or not [name for name in given if name.endswith("Id")], question.asks
        assert "files" not in question.about or "get_file" in dict(question.calls), question.asks


def test_each_filter_of_a_tool_that_is_asked_is_used() -> None:
    asked = {tool for question in QUESTIONS for tool, _ in question.calls}
    declared = {(tool, name) for tool in asked for name in TOOLS[tool].input.fields if name not in PAGING}
    used = {(tool, name) for question in QUESTIONS for _, tool, name, _ in question.inputs()}
    assert declared - used == set()
    assert len(asked) >= 13  # another tool may go without a question


def made_up_ids(question: Question) -> list[str]:
    """Inputs with an id that no earlier answer tells."""
    taken = {(number, name) for number, name, answer in question.references() if answer < number}
    return [
        f"{question.asks} {tool}.{name}"
        for number, tool, name, value in question.inputs()
        if AN_ID.search(str(value)) or (name.endswith("Id") and (number, name) not in taken)
    ]


def test_ids_come_from_earlier_answers_only() -> None:
    assert [problem for question in QUESTIONS for problem in made_up_ids(question)] == []


@pytest.mark.parametrize(
    "given",
    [
        {"applicationId": "app_44zk4mv8f0qec88s0yzs9jsygw"}, {"query": "app_44zk4mv8f0qec88s0yzs9jsygw"},
        {"applicationId": "storefront"}, {"applicationId": "$1.items.id"}, {"applicationId": "$2.items.id"},
    ],
)  # fmt: skip
def test_an_id_that_is_written_down_is_found(given: dict[str, Any]) -> None:
    assert made_up_ids(question_of({"asks": "?", "calls": [{"list_domains": given}], "facts": {}}))


def test_no_call_is_without_use() -> None:
    for question in QUESTIONS:
        used = {int(place.partition(".")[0]) for place in question.facts}
        used |= {answer for *_, answer in question.references()}
        assert used == set(range(1, len(question.calls) + 1)), question.asks


@pytest.mark.parametrize(
    ("place", "fact", "is_so"),
    [
        ("1.items.name", ["a", "b"], True), ("1.items.name", ["a"], False), ("1.items.name", ["b", "a"], False),
        ("1.items[name=b].size", 2, True), ("1.items[name=b].size", "2", False),
        ("1.items[isNew=true].name", "b", True), ("1.items[isNew=true].name", "…", True),
        ("1.items.of.name", ["…c", None], True), ("1.items[name=a].of.name", "c…", False),
        ("1.items[name=a].of.name", "…b…", True), ("1.items[name=a].of", {"name": "a b c"}, True),
    ],
)  # fmt: skip
def test_a_fact_is_a_place_and_what_it_says(place: str, fact: Any, is_so: bool) -> None:
    items = [
        {"name": "a", "size": 1, "isNew": False, "of": {"name": "a b c"}},
        {"name": "b", "size": 2, "isNew": True, "of": None},
    ]
    assert says(found({"1": {"items": items}}, place), fact) is is_so


def test_of_many_applications_a_list_may_tell_more() -> None:
    assert says(["c", "b", "a"], ["a", "b"], is_whole=False)
    assert not says(["c", "a"], ["a", "b"], is_whole=False)
