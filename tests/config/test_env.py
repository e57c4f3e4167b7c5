"""Settings are read strictly, and a refused value is named but never shown."""

from collections.abc import Callable
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured

from config.env import Env, is_origin, mail_settings

HOME = Path("/srv/porthole")


def refusal(read: Callable[[Env], Any], **values: str) -> str:
    with pytest.raises(ImproperlyConfigured) as caught:
        read(Env(values))
    return str(caught.value)


def test_a_value_comes_from_its_variable() -> None:
    assert Env({"NAME": "value"}).text("NAME", "default") == "value"


def test_an_empty_or_missing_variable_is_the_default() -> None:
    assert Env({"NAME": ""}).text("NAME", "default") == "default"
    assert Env({}).text("NAME", "default") == "default"


@pytest.mark.parametrize("ending", ["", "\n", "\r\n", "\n\n"])
def test_a_value_comes_from_a_file_without_its_line_end(tmp_path: Path, ending: str) -> None:
    (tmp_path / "secret").write_bytes(b" two  words " + ending.encode())
    assert Env({"NAME_FILE": str(tmp_path / "secret")}).text("NAME") == " two  words "


def test_an_empty_file_counts_as_unset(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("\n")
    assert Env({"NAME_FILE": str(tmp_path / "secret")}).text("NAME", "default") == "default"


def test_every_kind_of_value_may_come_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "port").write_text("8080\n")
    (tmp_path / "networks").write_text("10.0.0.0/8, fd00::/8\n")
    env = Env({"PORT_FILE": str(tmp_path / "port"), "NETWORKS_FILE": str(tmp_path / "networks")})
    assert env.integer("PORT", 1, low=1, high=65535) == 8080
    assert env.networks("NETWORKS") == [ip_network("10.0.0.0/8"), ip_network("fd00::/8")]


def test_a_variable_and_its_file_together_are_refused(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("hunter2")
    said = refusal(lambda env: env.text("NAME"), NAME="hunter3", NAME_FILE=str(tmp_path / "secret"))
    assert "NAME and NAME_FILE" in said
    assert "hunter" not in said


def test_a_file_that_cannot_be_read_names_its_variable_only(tmp_path: Path) -> None:
    (tmp_path / "latin").write_bytes(b"caf\xe9")
    for bad in (tmp_path / "missing-hunter2", tmp_path, tmp_path / "latin"):
        said = refusal(lambda env: env.text("NAME"), NAME_FILE=str(bad))
        assert said == "NAME_FILE names a file that cannot be read as text."


BAD: list[tuple[Callable[[Env], Any], str]] = [
    (lambda env: env.choice("NAME", ("on", "off"), "on"), "hunter2"),
    (lambda env: env.choice("NAME", ("on", "off"), "on"), "ON"),
    *(
        (lambda env: env.integer("NAME", 8000, low=1, high=65535), value)
        for value in (
            "hunter2", "0", "65536", "-1", "+80", " 80",
            "8_0", "٣", "8e3", "80.0", "9" * 5000, "0" * 30 + "80", "0" * 17 + "808" + "9" * 30,
        )
    ),
    *(
        (lambda env: env.origin("NAME"), value)
        for value in (
            "hunter2", "hunter2.example.com", "ftp://hunter2.example.com", "https://", "https://hunter2.example.com/",
            "https://hunter2.example.com/path", "https://hunter2.example.com?", "https://hunter2.example.com#",
            "https://hunter2@a.example.com", "https://user:hunter2@a.example.com", "https://@hunter2.example.com",
            "https://Hunter2.example.com", "HTTPS://hunter2.example.com", "https://hunter2.example.com:port",
            "https://hunter2.example.com:99999", "https://[hunter2", " https://hunter2.example.com",
            "https://hunter2.example.com ", "https://hunter2 .example.com", "https://hunter2.example.com\\",
            "https://hunter2.example.com:", "https://hunter2,example.com", "https://hünter2.example.com",
            "https://hunter2.example.com\tx", "https://*.hunter2.example.com",
        )
    ),
    *(
        (lambda env: env.origins("NAME"), value)
        for value in ("hunter2", "*", "null", "https://a.example.com,hunter2", "https://a.example.com/ , https://b")
    ),
    *(
        (lambda env: env.networks("NAME"), value)
        for value in ("hunter2", "10.0.0.0/33", "10.0.0.1/8", "10.0.0.0/8;fd00::/8", "10.0.0.0/8, hunter2", "1", "*")
    ),
    *(
        (lambda env: env.url("NAME"), value)
        for value in (
            "hunter2", "ftp://hunter2.example.com", "https://", "javascript:hunter2", "//hunter2.example.com",
            "https://user:hunter2@example.com/docs", "https://[hunter2", "https://hunter2.example.com:port/",
            "https://hunter2.example.com/a b",
        )
    ),
    *(
        (lambda env: env.schemes("NAME"), value)
        for value in (
            "hunter2://example.com", "hunter2:", "-hunter2", "2hunter", "hunter2;x", "hunter2 'self'", "hünter2",
            "vſcode", "*", "zed,hunter2 x", "z", "z" * 33, "javascript", "JavaScript", "data", "zed,file",
            "http", "https", "https://",
            "intent", "ms-hunter2", "ms-msdt", "search-ms", "view-source", "mailto",
            "x-apple.systempreferences", "itms-apps",
        )
    ),
]  # fmt: skip


@pytest.mark.parametrize(("read", "value"), BAD, ids=[repr(value)[:40] for _, value in BAD])
def test_a_bad_value_names_the_variable_and_is_not_shown(read: Callable[[Env], Any], value: str) -> None:
    said = refusal(read, NAME=value)
    assert said.startswith("NAME must ")
    assert said.endswith(".")
    assert "\n" not in said
    assert "hunter2" not in said
    assert "9999" not in said


@pytest.mark.parametrize(("read", "value"), BAD, ids=[repr(value)[:40] for _, value in BAD])
def test_a_bad_value_of_a_file_is_not_shown_either(read: Callable[[Env], Any], value: str, tmp_path: Path) -> None:
    (tmp_path / "value").write_text(value)
    said = refusal(read, NAME_FILE=str(tmp_path / "value"))
    assert said.startswith("NAME must ")
    assert "hunter2" not in said


@pytest.mark.parametrize(
    "value",
    [
        "https://porthole.example.com", "http://localhost:8000", "http://127.0.0.1:8000", "http://[::1]:8000",
        "https://xn--hnter-kva.example.com:8443",
    ],
)  # fmt: skip
def test_origins_are_accepted(value: str) -> None:
    assert is_origin(value)
    assert Env({"NAME": value}).origin("NAME") == value


def test_lists_are_split_at_commas_and_trimmed() -> None:
    env = Env({"NAME": " https://a.example.com ,,https://b.example.com, "})
    assert env.origins("NAME") == ["https://a.example.com", "https://b.example.com"]


def test_schemes_may_be_written_as_in_an_address() -> None:
    assert Env({"NAME": "zed, Acme-IDE://,com.example.app"}).schemes("NAME") == ["zed", "acme-ide", "com.example.app"]
    assert Env({}).schemes("NAME") == []


def test_paths_are_relative_to_the_project() -> None:
    env = Env({"DIR": "data", "DIRS": "docs,/usr/share/doc"})
    assert env.path("DIR", HOME / "var") == HOME / "data"
    assert env.path("OTHER", HOME / "var") == HOME / "var"
    assert env.paths("DIRS", HOME / "docs") == [HOME / "docs", Path("/usr/share/doc")]
    assert env.paths("OTHER", HOME / "docs") == [HOME / "docs"]


def test_an_address_may_have_a_path() -> None:
    assert Env({"NAME": "https://docs.example.com/v1/"}).url("NAME") == "https://docs.example.com/v1/"
    assert Env({}).url("NAME") is None


# Mail


@pytest.mark.parametrize(
    ("url", "host", "port", "tls", "ssl"),
    [
        ("smtp://mail.example.com", "mail.example.com", 25, False, False),
        ("smtp://mail.example.com?tls=0", "mail.example.com", 25, False, False),
        ("smtp://mail.example.com?tls=1", "mail.example.com", 587, True, False),
        ("smtp://mail.example.com:2525/?tls=1", "mail.example.com", 2525, True, False),
        ("smtps://mail.example.com", "mail.example.com", 465, False, True),
        ("smtp://[::1]:1025", "::1", 1025, False, False),
    ],
)
def test_how_mail_is_sent_is_read_from_an_address(url: str, host: str, port: int, tls: bool, ssl: bool) -> None:
    found = mail_settings(url)
    assert (found["EMAIL_HOST"], found["EMAIL_PORT"]) == (host, port)
    assert (found["EMAIL_USE_TLS"], found["EMAIL_USE_SSL"]) == (tls, ssl)
    assert (found["EMAIL_HOST_USER"], found["EMAIL_HOST_PASSWORD"]) == ("", "")


def test_the_mail_servers_user_and_password_may_hold_anything() -> None:
    found = mail_settings("smtps://me%40example.com:p%2Fw%3A%20@mail.example.com")
    assert (found["EMAIL_HOST_USER"], found["EMAIL_HOST_PASSWORD"]) == ("me@example.com", "p/w: ")


@pytest.mark.parametrize(
    "bad",
    [
        "mail.example.com", "http://mail.example.com", "smtp://", "smtp:mail", "smtp://hunter2@mail.example.com",
        "smtp://me:hunter2@mail.example.com:port", "smtp://mail.example.com:99999", "smtp://mail.example.com/path",
        "smtp://mail.example.com?tls=yes", "smtp://mail.example.com?ssl=1", "smtp://mail.example.com?tls=1&tls=1",
        "smtps://mail.example.com?tls=1", "smtp://mail.example.com#x", "smtp://mail .example.com", "console", "smtp://[x",
        "smtp://mail.example.com?tls",
    ],
)  # fmt: skip
def test_a_bad_mail_address_is_refused_and_never_shown(bad: str) -> None:
    said = refusal(lambda env: env.mail("EMAIL_URL", ""), EMAIL_URL=bad)
    assert said.startswith("EMAIL_URL must be like smtp://")
    assert "hunter2" not in said


def test_mail_is_printed_or_not_set_up_by_default() -> None:
    assert Env({}).mail("EMAIL_URL", "console:")["EMAIL_BACKEND"].endswith("printed_mail.EmailBackend")
    assert Env({}).mail("EMAIL_URL", "") == {}


def test_the_sender_is_an_address() -> None:
    assert Env({}).email("EMAIL_FROM", "porthole@localhost") == "porthole@localhost"
    assert Env({"EMAIL_FROM": "a@example.com"}).email("EMAIL_FROM", "") == "a@example.com"
    for bad in ("nobody", "A <a@example.com>", "a@example.com\nBcc: b@example.com"):
        assert "EMAIL_FROM must be an e-mail address" in refusal(
            lambda env: env.email("EMAIL_FROM", ""), EMAIL_FROM=bad
        )
