"""Credentials in texts: which are found, and how long that takes."""

import random
import time
from pathlib import Path

import pytest

from apps.sources.git import credentials, scans
from apps.sources.git.chunks import is_text
from apps.sources.git.credential_kinds import TAKEN, detector_patterns, known_kinds
from apps.sources.git.redaction import masked
from apps.web.exceptions import InvalidInput
from tests.sources.git.planted import ALNUM, BASE64, CONTEXTS, HEX, KINDS, LOWER, URL_SAFE, of, planted_of

MIB = 1024 * 1024
PACKAGES = Path(pytest.__file__).parent.parent


def shown(text: str) -> tuple[str, int]:
    spans = scans.search(text.encode())
    assert spans is not None
    return masked(text.encode(), spans).decode(), len(spans)


def fragments(text: str) -> set[str]:
    return {text[start : start + 8] for start in range(len(text) - 7)}


@pytest.mark.parametrize("kind", KINDS)
def test_a_credential_is_masked_wherever_it_is_written(kind):
    for context, (text, planted) in zip(CONTEXTS, planted_of(kind), strict=True):
        file = f"before: é\n{text}\nafter: ü\n"
        seen, count = shown(file)
        for secret in planted.secrets:
            assert not fragments(secret) & fragments(seen), context
        assert count == len(planted.secrets), context
        assert [len(line) for line in seen.encode().split(b"\n")] == [len(line) for line in file.encode().split(b"\n")]
        assert seen.startswith("before: é\n")
        assert seen.endswith("\nafter: ü\n")


@pytest.mark.parametrize(
    ("before", "alphabet", "length", "after"),
    [
        ('artifactory: "AKC', ALNUM, 60, '"'),
        ("JFROG_PASSWORD=AP1", ALNUM, 40, ""),
        ("cloudant_password = '", HEX, 64, "'"),
        ("CL_APIKEY: ", LOWER, 24, ""),
        ("https://shop:", HEX, 64, "@shop.cloudant.com"),
        ("https://shop:", LOWER, 24, "@shop.cloudant.com"),
        ("cos_hmac_secret_access_key=", HEX, 48, ""),
        ("softlayer_api_key: ", LOWER, 64, ""),
        ("SL-TOKEN: ", LOWER, 64, ""),
        ("https://api.softlayer.com/soap/v3/", LOWER, 64, ""),
        ("//registry.npmjs.org/:_authToken=", HEX + "-", 36, ""),
        ("NPM_TOKEN: ", HEX, 36, ""),
        ('"AWS_KEY" => "', ALNUM + "/", 40, '"'),
        ("secretAccessKey: '", BASE64, 40, "',"),
        ('"aws_secret_access_key": "ab\\/', ALNUM, 37, '"'),
        ("TWILIO_AUTH_TOKEN=", HEX, 32, ""),
        ("AZURE_STORAGE_KEY=", BASE64, 86, "=="),
        ("primaryKey: ", BASE64, 86, "=="),
        ("Endpoint=sb://a.example/;SharedAccessKey=", BASE64, 43, "="),
        ("account ", BASE64, 86, "=="),
    ],
)
def test_a_credential_is_known_by_what_is_around_it(before, alphabet, length, after):
    random_part = of(alphabet, length, random.Random(before))
    if before == "account ":
        random_part = random_part[:76] + "+AS" + "t" + random_part[80:]
    seen, count = shown(f"é\n{before}{random_part}{after}\n")
    assert not fragments(random_part) & fragments(seen)
    assert count == 1


def test_all_are_found_in_one_file():
    lines = [pair for kind in KINDS for pair in planted_of(kind)]
    random.Random(1).shuffle(lines)
    file = "\n".join(f"{text}\nü" for text, _ in lines)
    seen, count = shown(file)
    secrets = [secret for _, planted in lines for secret in planted.secrets]
    assert len(secrets) >= 200
    assert not set().union(*map(fragments, secrets)) & fragments(seen)
    assert count == len(secrets)
    assert len(seen.encode()) == len(file.encode())


@pytest.mark.parametrize(
    "text",
    [
        "commit " + "0123456789abcdef" * 2 + "01234567",
        '"integrity": "sha512-' + "Ab1/" * 21 + 'Ab=="',
        "https://example.com:8443/a@b",
        "git+ssh://git@github.com:acme/shop.git",
        "postgres://shop:${DB_PASSWORD}@db/shop postgres://<user>:<password>@host redis://:{{ password }}@cache",
        "ghp_" + "x" * 36,
        "AKIA" + "X" * 16,
        "npm_config_cache npm_package_version sk-fading-circle task-sk-0 hf_hub_download_from_the_hub",
        "porthole_st_…",
        "",
    ],
)
def test_what_is_no_credential_stays(text):
    assert shown(text) == (text, 0)


@pytest.mark.soak
def test_a_real_package_has_next_to_no_masks():
    """A few of the files that come with what tests need; none is known to hold a credential."""
    names = ("django", "rest_framework", "_pytest", "cryptography", "oauthlib", "allauth", "hypothesis", "pip", "mypy")
    found = [path for name in names for path in sorted((PACKAGES / name).rglob("*")) if path.is_file()]
    texts = [(path, data) for path in found[::4] if is_text(data := path.read_bytes())]
    marked = [path for path, data in texts if scans.search(data)]
    assert len(texts) > 1000
    assert len(marked) < len(texts) / 100, marked


def test_what_is_taken_of_the_detector_is_there():
    patterns = detector_patterns()
    for taken in TAKEN:
        assert len(patterns[taken.plugin]) > taken.position


WORDS = sorted({word for kind in known_kinds() for word in kind.words if isinstance(word, str)})
# Beginnings that go on as long as possible, and nearly what a pattern wants.
HOSTILE = [
    "a", "A", "1", "=", "-", ".", "/", " ", "\n", "\\", '"', "é", "ſ", "-----BEGIN ", "eyJ.", "eyJa.eyJ",
    "eyJ" + "a" * 20 + ".eyJ", "sk-proj-a", "xoxb-1", "xoxb-1-", "AKIA" + "A" * 16, "AKIA" + "A2" * 8 + " ",
    "AC" + "a" * 31 + "A", "SK" + "0" * 31 + ".", "://a:", "://a:b", "://:a@", "://" + "a" * 63 + ":", "http://a:b@ ",
    "artif", "jfrog AP1aaaaaaaa", "AP1aaaaaaaaa", " AP1aaaaaaaaa", "awskey", "awskeykey", "aws key " + "a" * 39,
    "aws_secret_access_key=", "secretkey=" + "a" * 41, "secret_key", "secret" * 3 + "-key:", "cosecretkey=", "key=",
    "key" + "=" * 12, "key=" + "a" * 60, "clkey", "clkey=", "slkey=", ".aaaaaa.", ".aaaaaa." + "a" * 27,
    "M" * 24 + ".aaaaaa.", "a" * 31 + "-us1", "NPM_TOKEN", "https://hooks.slack.com/services/T", "1" * 10 + ":AA",
    "1Q~", "a" * 76 + "AZDO", "pat" + "a" * 14 + ".", "a:" + "b" * 64 + "@", "twilio_token=", "ghp_" + "aB3" * 12 + " ",
    "https://" + "a" * 60 + ":" + "0" * 64 + "@" + "b" * 50 + ".cloudant.com",
    *(of(alphabet, 60_000, random.Random(3)) for alphabet in (HEX, ALNUM, URL_SAFE, BASE64, BASE64 + "= .\n")),
]  # fmt: skip


# Every twelfth in every run.
PIECES = [
    pytest.param(piece, marks=[pytest.mark.soak] if number % 12 else [], id=ascii(piece)[1:25])
    for number, piece in enumerate([*HOSTILE, *WORDS])
]


@pytest.mark.parametrize("piece", PIECES)
def test_a_mebibyte_is_searched_in_time_or_given_up(piece):
    text = (piece * (MIB // len(piece.encode()))).encode()
    started = time.thread_time()
    scans.search(text)
    assert time.thread_time() - started < credentials.LIMIT + 0.1


def test_what_cannot_be_searched_in_time_is_not_answered(monkeypatch):
    monkeypatch.setattr(credentials, "LIMIT", -1)
    with pytest.raises(InvalidInput) as caught:
        scans.redacted("1" * 40, b"", None)
    assert "too long" in caught.value.problems[0].msg
