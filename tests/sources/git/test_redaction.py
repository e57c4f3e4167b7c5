"""Private keys in texts, and masks."""

import time

import pytest

from apps.sources.git.redaction import masked, private_keys_in, united

INSIDE = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC"
KINDS = ["", "RSA ", "EC ", "DSA ", "ENCRYPTED ", "OPENSSH ", "SSH2 ENCRYPTED ", "ANY "]


def redacted(text: bytes) -> tuple[bytes, int]:
    spans = tuple(private_keys_in(text))
    return masked(text, spans), len(spans)


def block(kind: str = "RSA ", line: str = "\n", after: str = "") -> str:
    name = f"{kind}PRIVATE KEY{after}"
    return line.join([f"-----BEGIN {name}-----", "Proc-Type: 4,ENCRYPTED", "", INSIDE, INSIDE, f"-----END {name}-----"])


@pytest.mark.parametrize(
    "text",
    [
        *(block(kind) for kind in KINDS),
        block("PGP ", after=" BLOCK"),
        block(line="\r\n"),
        block(line="\n    "),
        block(line="\\n"),
        block(line="\\\\n"),
        block(line="\\r\\n"),
        block().partition("-----END")[0],
        block().replace("-----", "----").replace("----BEGIN", "---- BEGIN").replace("KEY----", "KEY ----"),
    ],
)
def test_a_key_is_masked_and_lengths_and_lines_hold(text):
    file = f"before: é\nkey: |\n  {text}\nafter: ü\n".encode()
    shown, count = redacted(file)
    assert count == 1
    assert INSIDE.encode() not in shown
    assert b"Proc-Type" not in shown
    assert len(shown) == len(file)
    assert [len(line) for line in shown.splitlines()] == [len(line) for line in file.splitlines()]
    assert shown.startswith("before: é\nkey: |\n  ----".encode())
    assert ("after: ü".encode() in shown) == ("END" in text)


@pytest.mark.parametrize(
    "text", ["-----BEGIN CERTIFICATE-----\nMIIB\n", "-----BEGIN PUBLIC KEY-----\nMIIB\n", "a PRIVATE KEY", ""]
)
def test_what_is_no_private_key_stays(text):
    assert redacted(text.encode()) == (text.encode(), 0)


def test_every_block_is_counted():
    assert redacted(f"{block()}\n{block('EC ')}\n".encode())[1] == 2


@pytest.mark.parametrize(
    "piece", ["-----BEGIN RSA PRIVATE KEY-----", block() + "\n", "-----BEGIN ", "-", "\n", "-----BEGIN " + "A " * 25]
)
def test_a_mebibyte_takes_no_time(piece):
    text = (piece * (1024 * 1024 // len(piece))).encode()
    started = time.process_time()
    redacted(text)
    assert time.process_time() - started < 0.3  # about 0.01 s


def test_spans_that_overlap_are_one():
    assert united([(4, 6), (0, 2), (1, 3), (0, 1), (6, 7), (8, 20), (9, 10)]) == ((0, 3), (4, 6), (6, 7), (8, 20))


def test_a_mask_has_as_many_bytes_and_lines():
    assert masked("aé\r\n\tb".encode(), ((1, 6),)) == b"aXX\r\nXb"
