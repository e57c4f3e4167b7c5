"""The questions of questions.yaml, and asking them: its header says how calls and facts are written."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from tests.docs_examples import REST, fits
from tests.mcp_clients.client import McpClient

FILE = Path(__file__).parent / "questions.yaml"
REFERENCE = re.compile(r"\$(\d)\.(.+)")
STEP = re.compile(r"\.?(?:(?P<name>\w+)|\[(?P<key>\w+)=(?P<wanted>[^\]]*)\])")


@dataclass(frozen=True)
class Question:
    asks: str
    calls: list[tuple[str, dict[str, Any]]]
    facts: dict[str, Any]
    about: list[str] = field(default_factory=list)

    def inputs(self) -> Iterator[tuple[int, str, str, Any]]:
        """(number of the call, tool, name, value) of each input."""
        for number, (tool, given) in enumerate(self.calls, 1):
            for name, value in given.items():
                yield number, tool, name, value

    def references(self) -> Iterator[tuple[int, str, int]]:
        """(number of the call, name of the input, number of the answer that it is taken from)."""
        for number, _, name, value in self.inputs():
            if reference := REFERENCE.fullmatch(str(value)):
                yield number, name, int(reference[1])


def question_of(entry: Mapping[str, Any]) -> Question:
    calls = [pair for call in entry["calls"] for pair in call.items()]
    return Question(entry["asks"], calls, entry["facts"], entry.get("about", []))


QUESTIONS = [question_of(entry) for entry in yaml.safe_load(FILE.read_text(encoding="utf-8"))]


# Asking


@dataclass
class Transcript:
    """Answers by the number of their call, each as one where a list has several pages."""

    question: Question
    answers: dict[str, Any] = field(default_factory=dict)
    sizes: list[int] = field(default_factory=list)  # bytes of text, of each call
    pages: list[list[tuple[int, int]]] = field(default_factory=list)  # (items, bytes) of each page, of each list

    def wrong(self, is_whole: bool = True) -> list[str]:
        """Facts that the answers do not tell. Not `is_whole`: lists may tell of more than the facts do."""
        told = {place: found(self.answers, place) for place in self.question.facts}
        return [
            f"{self.question.asks} {place} is {told[place]!r}, not {fact!r}"
            for place, fact in self.question.facts.items()
            if not says(told[place], fact, is_whole)
        ]


def ask(client: McpClient, question: Question) -> Transcript:
    """Lists are read to their end, but where the question wants so many items and no more."""
    transcript = Transcript(question)
    for number, (tool, given) in enumerate(question.calls, 1):
        inputs = {name: resolved(transcript.answers, value) for name, value in given.items()}
        answer = call(client, transcript, tool, inputs)
        pages = [(len(answer.get("items", [])), transcript.sizes[-1])]
        cursor = answer.get("nextCursor")
        while cursor and "limit" not in given:
            page = call(client, transcript, tool, {**inputs, "cursor": cursor})
            pages.append((len(page["items"]), transcript.sizes[-1]))
            answer["items"] += page["items"]
            cursor = page["nextCursor"]
        transcript.pages.append(pages)
        transcript.answers[str(number)] = answer
    return transcript


def call(client: McpClient, transcript: Transcript, tool: str, inputs: dict[str, Any]) -> Any:
    result = client.call(tool, inputs)
    texts = [block["text"] for block in result["content"] if block["type"] == "text"]
    assert not result.get("isError"), f"{transcript.question.asks} {tool} {inputs}: {texts}"
    transcript.sizes.append(sum(len(text.encode()) for text in texts))
    return json.loads(texts[0])


# Places in answers


def resolved(answers: Mapping[str, Any], value: Any) -> Any:
    reference = REFERENCE.fullmatch(value) if isinstance(value, str) else None
    return found(answers, f"{reference[1]}.{reference[2]}") if reference else value


def found(answers: Any, place: str) -> Any:
    """What an answer says at a place such as 1.items[name=Storefront].id."""
    value = answers
    for step in STEP.finditer(place):
        name, key, wanted = step.group("name", "key", "wanted")
        if key:
            value = next((item for item in value if as_text(item[key]) == wanted), None)
            assert value is not None, f"{place}: no item has this {key}"
        else:
            value = [member(item, name) for item in value] if isinstance(value, list) else member(value, name)
    return value


def member(value: Mapping[str, Any] | None, name: str) -> Any:
    return None if value is None else value[name]


def as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def says(told: Any, fact: Any, is_whole: bool = True) -> bool:
    if isinstance(fact, list) and isinstance(told, list):
        if is_whole:
            return len(told) == len(fact) and all(map(says, told, fact))
        return all(any(says(item, wanted) for item in told) for wanted in fact)
    if isinstance(fact, str) and REST in fact:
        return isinstance(told, str) and fits(fact, told)
    return json.dumps(told, sort_keys=True) == json.dumps(fact, sort_keys=True)
