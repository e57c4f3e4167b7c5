"""Credentials that nobody ever issued, made anew in every run: nothing in this repository looks like one."""

import base64
import json
import random
import string
from collections.abc import Callable, Iterator
from typing import NamedTuple

HEX, DIGITS, UPPER, LOWER = "0123456789abcdef", string.digits, string.ascii_uppercase, string.ascii_lowercase
ALNUM = string.ascii_letters + DIGITS
URL_SAFE, BASE64, BASE32 = ALNUM + "_-", ALNUM + "+/", UPPER + "234567"


class Planted(NamedTuple):
    text: str  # how it is written
    secrets: tuple[str, ...]  # what must not be seen of it


Maker = Callable[[random.Random], Planted]


def of(alphabet: str, length: int, rng: random.Random) -> str:
    return "".join(rng.choices(alphabet, k=length))


def token(*parts: str | tuple[str, int]) -> Maker:
    """Literal parts, and random ones of an alphabet and a length."""

    def make(rng: random.Random) -> Planted:
        text = "".join(part if isinstance(part, str) else of(*part, rng) for part in parts)
        return Planted(text, (text,))

    return make


def behind(before: str, *parts: str | tuple[str, int], after: str = "") -> Maker:
    """A token that is known by what is written around it."""

    def make(rng: random.Random) -> Planted:
        planted = token(*parts)(rng)
        return Planted(f"{before}{planted.text}{after}", planted.secrets)

    return make


def aws_pair(rng: random.Random) -> Planted:
    id, secret = "AKIA" + of(BASE32, 16, rng), "a1B" + of(BASE64, 37, rng)
    return Planted(f"{id}, {secret}", (id, secret))


def web_token(rng: random.Random) -> Planted:
    def part(value: object) -> str:
        return base64.urlsafe_b64encode(json.dumps(value, separators=(",", ":")).encode()).rstrip(b"=").decode()

    text = f"{part({'alg': 'HS256', 'typ': 'JWT'})}.{part({'sub': of(ALNUM, 20, rng)})}.{of(URL_SAFE, 43, rng)}"
    return Planted(text, (text,))


KINDS: dict[str, Maker] = {
    "Porthole": token("porthole", "_st_", (ALNUM, 49)),
    "GitHub classic": token("ghp", "_", (ALNUM, 36)),
    "GitHub app": token("ghs", "_", (ALNUM, 80)),
    "GitHub fine-grained": token("github", "_pat_", (ALNUM, 22), "_", (ALNUM, 59)),
    "GitLab": token("glpat", "-", (URL_SAFE, 20)),
    "GitLab routable": token("glpat", "-", (URL_SAFE, 27), ".01.", (LOWER + DIGITS, 9)),
    "OpenAI": token("sk", "-proj-", (URL_SAFE, 74), "T3BlbkFJ", (URL_SAFE, 74)),
    "OpenAI legacy": token("sk", "-", (ALNUM, 20), "T3BlbkFJ", (ALNUM, 20)),
    "Anthropic": token("sk", "-ant-api03-", (URL_SAFE, 93), "AA"),
    "Stripe": token("sk", "_live_", (ALNUM, 99)),
    "Stripe restricted": token("rk", "_live_", (ALNUM, 24)),
    "Slack bot": token("xox", "b-", (DIGITS, 12), "-", (DIGITS, 13), "-", (ALNUM, 24)),
    "Slack app": token("xapp", "-1-A", (UPPER + DIGITS, 10), "-", (DIGITS, 13), "-", (HEX, 64)),
    "Slack hook": behind("https://hooks.slack.com", "/services/T", (UPPER, 8), "/B", (UPPER, 10), "/", (ALNUM, 24)),
    "npm": token("npm", "_", (ALNUM, 36)),
    "PyPI": token("pypi", "-AgEIcHlwaS5vcmc", (URL_SAFE, 150)),
    "Google": token("AI", "za", (URL_SAFE, 35)),
    "Google client": token("GOCSPX", "-", (URL_SAFE, 28)),
    "AWS id": token("AK", "IA", (BASE32, 16)),
    "AWS id and secret": aws_pair,
    "AWS secret": behind("aws_secret_access_key = ", "x", (BASE64, 38), "x"),
    "SendGrid": token("SG", ".", (URL_SAFE, 22), ".", (URL_SAFE, 43)),
    "Twilio": token("SK", (HEX, 32)),
    "Telegram": token((DIGITS, 10), ":AA", (URL_SAFE, 33)),
    "Discord": token("M", (ALNUM, 25), ".", (URL_SAFE, 6), ".", (URL_SAFE, 38)),
    "Azure storage": behind("AccountName=shop;AccountKey=", (BASE64, 86), "==", after=";"),
    "Azure application": token((ALNUM, 3), "8Q~", (ALNUM, 34)),
    "JSON web token": web_token,
    "Mailchimp": token((HEX, 32), "-us", "12"),
    "DigitalOcean": token("dop", "_v1_", (HEX, 64)),
    "Hugging Face": token("hf", "_", (ALNUM, 34)),
    "Shopify": token("shp", "at_", (HEX, 32)),
    "Databricks": token("da", "pi", (HEX, 32)),
    "Docker": token("dckr", "_pat_", (URL_SAFE, 27)),
    "Vault": token("hvs", ".", (URL_SAFE, 90)),
    "Square": token("sq0", "csp-", (ALNUM, 43)),
    "Password in a URL": behind("postgres://shop:", (ALNUM, 12), "!@%", (ALNUM, 4), after="@db.internal:5432/shop"),
}

# What they are written in. Each line but the first names nothing that a pattern could go by.
CONTEXTS: dict[str, Callable[[str], str]] = {
    "text": lambda text: f"Größe: ask for {text} and wait.",
    "JSON": lambda text: json.dumps({"größe": [1, {"value": text}]}, ensure_ascii=False),
    "JSON in JSON": lambda text: json.dumps({"a": json.dumps({"value": f"one\n{text}\ttwo"})}),
    "YAML": lambda text: f"  - name: größe\n    value: '{text}' # é",
    "code": lambda text: f'const client = connect("{text}", {{größe: 1}});',
    "shell": lambda text: f"export VALUE={text}",
    "header": lambda text: f"curl -H 'Authorization: Bearer {text}' https://example.com/ö",
    "list": lambda text: f"€,{text},€",
    "markup": lambda text: f"<p>é<code>{text}</code>é</p>",
    "alone": lambda text: text,
}


def planted_of(kind: str, seed: int = 7) -> Iterator[tuple[str, Planted]]:
    """One in each context: the lines, and what is in them."""
    rng = random.Random(f"{kind} {seed}")
    for write in CONTEXTS.values():
        planted = KINDS[kind](rng)
        yield write(planted.text), planted
