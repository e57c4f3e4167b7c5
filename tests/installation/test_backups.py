"""Backups: whole, readable for nobody else, and put back whole or not at all, on both databases."""

import gzip
import io
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import orjson
import pytest
from cryptography.fernet import Fernet
from django.apps import apps
from django.conf import settings as django_settings
from django.contrib.admin.models import LogEntry
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client

from apps.installation import keys
from apps.installation.backups import schema, values
from apps.installation.backups.file import Header, Reader, Writer
from apps.installation.management.commands import backup as backup_command
from apps.net.encryption import encrypt_credential
from apps.orgs.models import App, DataVersion, Organization, User
from apps.platforms.models import PlatformConnection
from tests.accounts.visitors import code, give_second_factor, sign_in, visitor, who
from tests.factories import Fill, fill
from tests.oauthmcp.grants import make_access_token, make_authorization, make_client, make_member, make_refresh_token
from tests.oauthmcp.programs import refresh
from tests.platforms.snapshots import manifest_platform

CANARY = "canary-8f21c7"
# What text formats and databases treat in ways of their own.
ODD = "tab\t newline\n backslash \\ \\N \\. quote ' \" bell \x07 vertical \v 雪 \U0001f600"


def contents(path: Path) -> dict[str, list[bytes]]:
    """The rows of each table, sorted, but for the counters that restoring raises."""
    with path.open("rb") as file:
        found = {name: sorted(lines) for name, lines in Reader(file).tables()}
    del found["orgs_dataversion"]
    return found


def counts() -> dict[str, int]:
    """As the database itself counts."""
    found = {}
    with connection.cursor() as cursor:
        for table in sorted(set(connection.introspection.table_names()) - set(schema.BESIDE)):
            cursor.execute(f"SELECT count(*) FROM {connection.ops.quote_name(table)}")
            found[table] = cursor.fetchone()[0]
    return found


def export(slug: str, capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    call_command("export_manifest", slug)
    return capsys.readouterr().out


def ask(token: str) -> int:
    call = {"path": "/api/v1/tools/get_account", "data": "{}", "content_type": "application/json"}
    headers = {"host": "localhost", "authorization": f"Bearer {token}"}
    return int(Client().post(**call, headers=headers).status_code)  # type: ignore[arg-type]


def works(browser: Client, token: str) -> bool:
    """Who was signed in is, who signs in with both factors can, and the token opens."""
    newcomer = visitor()
    challenge = sign_in(newcomer)["Location"]
    newcomer.post(challenge, {"code": code(int(time.time()) // 30)})
    return who(browser) == who(newcomer) == "ada@example.com" and ask(token) == 200


@pytest.mark.django_db(transaction=True)
def test_a_backup_brings_everything_back(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    acme, _ = fill("acme"), fill("rival")
    member = make_member(acme.organization)
    LogEntry.objects.create(user=member.user, action_flag=1, object_repr="odd", change_message=ODD)
    give_second_factor(member.user)
    authorization = make_authorization(make_client(), member)
    token, refresh_token = make_access_token(authorization), make_refresh_token(authorization)
    browser, (first, again) = visitor(member.user), (tmp_path / "first", tmp_path / "again")
    before, manifest = counts(), export("acme", capsys)
    version = DataVersion.objects.get(organization=acme.organization).data_version

    call_command("backup", str(first))
    Organization.objects.all().delete()
    User.objects.all().delete()
    fill("other")
    call_command("restore", str(first), overwrite=True)

    assert counts() == before
    assert sum(before.values()) > 100
    assert export("acme", capsys) == manifest
    assert LogEntry.objects.get().change_message == ODD
    call_command("backup", str(again))
    assert contents(again) == contents(first)
    assert works(browser, token)
    assert refresh(authorization.application, refresh_token).status_code == 200
    # What clients knew before is never taken for what is there now, and new rows have numbers of their own.
    assert DataVersion.objects.get(organization=acme.organization).data_version > version
    assert User.objects.create_user("new@example.com").pk > member.user.pk


@pytest.mark.django_db(transaction=True)
def test_a_backup_is_its_owners_alone_holds_no_key_and_comes_whole_or_not_at_all(
    tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    settings.ENCRYPTION_KEYS = [Fernet.generate_key().decode()]
    PlatformConnection.objects.create(
        platform=manifest_platform(kind="dokploy"),
        base_url="https://d.example.com",
        encrypted_key=encrypt_credential(CANARY),
    )
    path = tmp_path / "a.backup"
    call_command("backup", str(path))
    assert path.stat().st_mode & 0o777 == 0o600
    text = gzip.decompress(path.read_bytes()).decode()
    for secret in (CANARY, settings.SECRET_KEY, settings.ENCRYPTION_KEYS[0]):
        assert secret not in text
    out = capsys.readouterr().out
    assert keys.fingerprint(settings.SECRET_KEY) in out
    assert keys.fingerprint(settings.ENCRYPTION_KEYS[0]) in out
    call_command("backup", str(tmp_path))
    assert len(list(tmp_path.iterdir())) == 2

    def full(target: Any) -> None:
        target.write(b"half")
        raise OSError(28, "No space left on device")

    whole = path.read_bytes()
    monkeypatch.setattr(backup_command, "dump", full)
    with pytest.raises(CommandError, match="No space left"):
        call_command("backup", str(path))
    assert path.read_bytes() == whole
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.django_db
def test_no_other_file_is_overwritten_by_a_backup(tmp_path: Path) -> None:
    precious = tmp_path / "porthole.sqlite3"
    precious.write_bytes(b"precious")
    with pytest.raises(CommandError, match="is no backup"):
        call_command("backup", str(precious))
    assert precious.read_bytes() == b"precious"


@pytest.mark.django_db(transaction=True)
def test_restoring_tells_which_keys_are_missing(
    tmp_path: Path, settings: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    settings.IS_LOCAL, settings.ENCRYPTION_KEYS = False, [Fernet.generate_key().decode()]
    PlatformConnection.objects.create(
        platform=manifest_platform(kind="dokploy"),
        base_url="https://d.example.com",
        encrypted_key=encrypt_credential("x"),
    )
    give_second_factor(User.objects.create_user("ada@example.com"))
    path = tmp_path / "a.backup"
    call_command("backup", str(path))
    call_command("restore", str(path), overwrite=True)
    assert capsys.readouterr().err == ""
    old, settings.SECRET_KEY = settings.SECRET_KEY, "another-key" * 6
    lost, settings.ENCRYPTION_KEYS = settings.ENCRYPTION_KEYS[0], []
    call_command("restore", str(path), overwrite=True)
    told = capsys.readouterr().err
    assert f"The key {keys.fingerprint(old)} of SECRET_KEY is not here. Add it to SECRET_KEY_FALLBACKS" in told
    assert f"The key {keys.fingerprint(lost)} of ENCRYPTION_KEYS is not here." in told
    assert "The second factors of 1 people cannot be read" in told
    assert "The keys of 1 platforms cannot be read" in told


@pytest.mark.django_db
def test_a_database_in_use_is_not_overwritten_unasked(acme: Fill, tmp_path: Path) -> None:
    User.objects.create_user("ada@example.com")
    with pytest.raises(CommandError, match="1 users and 1 organizations, which would be deleted"):
        call_command("restore", str(made(tmp_path)))
    assert Organization.objects.exists()


# What is no backup


def header() -> Header:
    present = schema.of_database()
    assert present
    tables = {table: list(columns) for table, columns in present.fields().items()}
    return Header(
        made_at="now",
        vendor=connection.vendor,
        migrations=sorted(map(list, present.migrations)),
        keys=keys.fingerprints(),
        tables=tables,
    )


def made(folder: Path, rows: dict[str, bytes] | None = None, **changes: Any) -> Path:
    """A file that says these things, and is right in everything else."""
    path = folder / "made.backup"
    with path.open("wb") as file:
        writer = Writer(file, replace(header(), **changes))
        for table in writer_tables(changes):
            writer.table(table, iter([(rows or {}).get(table, b"")]))
        writer.finish()
    return path


def writer_tables(changes: dict[str, Any]) -> Any:
    return changes.get("tables", header().tables)


def is_refused(path: Path, sentence: str) -> None:
    """And everything is as it was."""
    before = counts()
    with pytest.raises(CommandError, match="Nothing was changed") as refused:
        call_command("restore", str(path), overwrite=True)
    assert sentence in str(refused.value), str(refused.value)
    assert counts() == before


@pytest.mark.django_db
def test_what_is_no_backup_or_was_changed_on_its_way_is_refused(acme: Fill, tmp_path: Path) -> None:
    whole = made(tmp_path, {"orgs_organization": b""}).read_bytes()
    text = gzip.decompress(whole)
    first, last = text.split(b"\n", 1)[0], text.rstrip(b"\n").rsplit(b"\n", 1)[1]
    broken = {
        "empty": (b"", "is damaged"),
        "no gzip": (b"SQLite format 3\0" * 100, "is no backup"),
        "the header alone": (gzip.compress(first + b"\n"), "ends too early"),
        "half of it": (whole[: len(whole) // 2], "ends too early"),
        "no last line": (gzip.compress(text.removesuffix(last + b"\n")), "ends too early"),
        "a changed row": (gzip.compress(text.replace(b"\\.\n", b"1\t2\n\\.\n", 1)), "does not hold what it says"),
        "something behind it": (gzip.compress(text + b"more\n"), "does not hold what it says"),
        "another program's JSON": (gzip.compress(b'{"porthole_backup": 1}\n'), "is no backup"),
        "deep JSON": (gzip.compress(b"[" * 100_000 + b"\n"), "is no backup"),
        "a header of lists": (gzip.compress(orjson.dumps({name: [] for name in asdict(header())}) + b"\n"), "is no"),
    }
    for name, (content, sentence) in broken.items():
        path = tmp_path / "broken"
        path.write_bytes(content)
        with pytest.raises(CommandError) as refused:
            call_command("restore", str(path), overwrite=True)
        assert sentence in str(refused.value), name
    assert Organization.objects.filter(slug="acme").exists()
    flipped = bytearray(whole)
    flipped[len(whole) // 2] ^= 1
    (tmp_path / "flipped").write_bytes(flipped)
    is_refused(tmp_path / "flipped", "damaged")


@pytest.mark.django_db
def test_a_backup_of_a_newer_version_is_refused(acme: Fill, tmp_path: Path) -> None:
    is_refused(made(tmp_path, porthole_backup=2), "was made by a newer version")
    later = [*header().migrations, ["orgs", "9999_later"]]
    is_refused(made(tmp_path, migrations=later), "does not know orgs.9999_later")


@pytest.mark.django_db
def test_names_in_a_backup_reach_no_statement(acme: Fill, tmp_path: Path) -> None:
    evil = 'orgs_app"; DROP TABLE orgs_app; --'
    tables = header().tables
    is_refused(made(tmp_path, tables=tables | {evil: ["id"]}), "its tables are not those")
    is_refused(
        made(tmp_path, tables=tables | {"orgs_app": [*tables["orgs_app"][1:], evil]}), "its tables are not those"
    )
    is_refused(made(tmp_path, tables=tables | {"sqlite_master": ["sql"]}), "its tables are not those")
    without = [migration for migration in header().migrations if migration != ["orgs", "0001_initial"]]
    is_refused(made(tmp_path, migrations=without), "cannot be applied like this")
    assert App.objects.exists()


@pytest.mark.django_db
@pytest.mark.parametrize(
    "row",
    [b"1\n", b"\\N\n" * 2, b"\t".join([b"x"] * 99) + b"\n", b"\xff\xfe\n", b"999\t999\t999\n"],
    ids=["too few values", "nulls", "too many values", "no UTF-8", "points nowhere"],
)
def test_rows_that_do_not_fit_change_nothing(acme: Fill, tmp_path: Path, row: bytes) -> None:
    is_refused(made(tmp_path, {"orgs_user_groups": row}), "the database refuses its rows")


@pytest.mark.django_db
def test_a_bomb_is_refused_before_it_has_gone_off(acme: Fill, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("apps.installation.backups.file.FREE_EXPANSION", 100_000)
    monkeypatch.setattr("apps.installation.backups.file.MAX_LINE", 100_000)
    path = tmp_path / "bomb"
    for line in (b"0" * 1000 + b"\n", b"0" * 1000):  # many rows, and one that does not end
        path.write_bytes(gzip.compress(orjson.dumps(asdict(header())) + b"\n" + line * 10_000))
        is_refused(path, "beyond all measure")


def test_every_kind_of_column_can_be_kept() -> None:
    for model in apps.get_models(include_auto_created=True):
        for field in model._meta.local_concrete_fields:
            assert values.kind_of(field), f"{field}: values.KINDS does not know how it is written"


def test_text_is_what_postgresql_writes() -> None:
    kinds = [values.TEXT, values.KINDS["BooleanField"], values.KINDS["BinaryField"], values.KINDS["DateTimeField"]]
    row = (ODD, 1, b"\x00\xff", "2026-06-01 12:00:00.120000")
    line = values.encode_row([encode for encode, _ in kinds], row).encode()
    assert line.count(b"\n") == 1
    assert values.decode_row([decode for _, decode in kinds], line) == list(row)
    assert line.endswith(b"\tt\t\\\\x00ff\t2026-06-01 12:00:00.120000+00\n")
    from_postgresql = "2026-06-01 12:00:00.12+00"  # SQLite compares times as text
    assert values.KINDS["DateTimeField"][1](from_postgresql) == "2026-06-01 12:00:00.120000"
    assert values.KINDS["JSONField"][1]('{"a": "ä"}') == '{"a": "\\u00e4"}'


@pytest.mark.django_db
def test_a_backup_comes_from_standard_input_too(acme: Fill, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = made(tmp_path).read_bytes()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content[:-20])))
    with pytest.raises(CommandError, match="ends too early"):
        call_command("restore", "-", overwrite=True)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
    call_command("restore", "-", overwrite=True)
    assert not Organization.objects.exists()
    assert not list(Path(django_settings.DATA_DIR).glob("tmp*"))


@pytest.mark.django_db
def test_all_access_can_be_ended_at_once(acme: Fill, capsys: pytest.CaptureFixture[str]) -> None:
    member = make_member(acme.organization)
    token, browser = make_access_token(make_authorization(make_client(), member)), visitor(member.user)
    assert (ask(token), who(browser)) == (200, "ada@example.com")
    call_command("end_all_access")
    assert capsys.readouterr().out == "Sessions ended: 1. Access of apps and scripts ended: 1.\n"
    assert (ask(token), who(browser)) == (401, None)
