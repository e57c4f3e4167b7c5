"""Credentials are stored encrypted, with keys that can be replaced."""

import pytest
from cryptography.fernet import Fernet
from django.core.exceptions import ImproperlyConfigured
from django.core.management import CommandError, call_command
from django.utils.crypto import salted_hmac
from pytest_django.fixtures import Settings

from apps.installation.keys import unreadable_credentials
from apps.net.encryption import DecryptionError, decrypt, decrypt_credential, encrypt, encrypt_credential, macs
from apps.orgs.models import SourceConnection
from apps.platforms.models import PlatformConnection
from apps.sources.models import SourceCredentials
from config.checks import database_rules
from tests.factories import START
from tests.platforms.snapshots import manifest_platform

OLD, NEW = Fernet.generate_key().decode(), Fernet.generate_key().decode()
CANARY = "canary-4c1d2e"


def store(name: str = "default") -> PlatformConnection:
    platform = manifest_platform(kind="dokploy", name=name)
    return PlatformConnection.objects.create(
        platform=platform, base_url="https://d.example.com", encrypted_key=encrypt_credential(CANARY)
    )


def store_source() -> SourceCredentials:
    organization = manifest_platform(name="source").organization
    connection = SourceConnection.objects.create(organization=organization, type="github", name="x")
    return SourceCredentials.objects.create(
        connection=connection, kind="access_token", base_url="https://github.com", checked_at=START,
        encrypted_secret=encrypt_credential(CANARY),
    )  # fmt: skip


@pytest.fixture
def elsewhere(settings: Settings) -> None:
    """Not local, and without keys."""
    settings.IS_LOCAL, settings.ENCRYPTION_KEYS = False, []


def test_a_credential_comes_back(settings: Settings) -> None:
    settings.ENCRYPTION_KEYS = [NEW]
    encrypted = encrypt_credential(CANARY)
    assert CANARY not in encrypted
    assert decrypt_credential(encrypted) == CANARY


def test_what_an_older_key_encrypted_is_still_read(settings: Settings) -> None:
    settings.ENCRYPTION_KEYS = [OLD]
    encrypted = encrypt_credential(CANARY)
    settings.ENCRYPTION_KEYS = [NEW, OLD]
    assert decrypt_credential(encrypted) == CANARY
    settings.ENCRYPTION_KEYS = [NEW]
    with pytest.raises(DecryptionError):
        decrypt_credential(encrypted)


def test_local_needs_no_keys_and_keeps_reading_after_it_got_some(settings: Settings) -> None:
    encrypted = encrypt_credential(CANARY)
    settings.ENCRYPTION_KEYS = [NEW]
    assert decrypt_credential(encrypted) == CANARY
    assert Fernet(NEW).decrypt(encrypt_credential(CANARY).encode()).decode() == CANARY


def test_what_a_fallback_of_the_secret_key_encrypted_is_read_and_written_with_the_newest(settings: Settings) -> None:
    settings.SECRET_KEY = OLD
    encrypted, credential = encrypt(CANARY, "a purpose"), encrypt_credential(CANARY)
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = NEW, ["another", OLD]
    assert decrypt(encrypted, "a purpose") == decrypt_credential(credential) == CANARY
    again = encrypt(CANARY, "a purpose")
    settings.SECRET_KEY_FALLBACKS = []
    assert decrypt(again, "a purpose") == CANARY
    for broken in (lambda: decrypt(encrypted, "a purpose"), lambda: decrypt_credential(credential)):
        with pytest.raises(DecryptionError):
            broken()


def test_a_fallback_reads_nothing_of_another_purpose(settings: Settings) -> None:
    settings.SECRET_KEY = OLD
    encrypted = encrypt(CANARY, "a purpose")
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = NEW, [OLD]
    with pytest.raises(DecryptionError):
        decrypt(encrypted, "another purpose")


@pytest.mark.usefixtures("elsewhere")
def test_elsewhere_nothing_is_encrypted_without_keys() -> None:
    with pytest.raises(ImproperlyConfigured, match="ENCRYPTION_KEYS"):
        encrypt_credential(CANARY)


@pytest.mark.django_db
def test_rotating_encrypts_everything_with_the_newest_key(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    settings.ENCRYPTION_KEYS = [OLD]
    stored = [store("a"), store("b")]
    source = store_source()
    settings.ENCRYPTION_KEYS = [NEW, OLD]
    call_command("rotate_keys")
    assert "3 credentials encrypted with the newest key.\n" in capsys.readouterr().out
    for connection in stored:
        connection.refresh_from_db()
        assert Fernet(NEW).decrypt(connection.encrypted_key.encode()).decode() == CANARY
    source.refresh_from_db()
    assert Fernet(NEW).decrypt(source.encrypted_secret.encode()).decode() == CANARY


@pytest.mark.django_db
def test_rotating_changes_nothing_where_one_credential_cannot_be_read(settings: Settings) -> None:
    settings.ENCRYPTION_KEYS = [OLD]
    good = store("a")
    lost = store("b")
    PlatformConnection.objects.filter(pk=lost.pk).update(encrypted_key=Fernet(Fernet.generate_key()).encrypt(b"x"))
    settings.ENCRYPTION_KEYS = [NEW, OLD]
    with pytest.raises(CommandError, match="Nothing was changed") as refused:
        call_command("rotate_keys")
    assert CANARY not in str(refused.value)
    assert PlatformConnection.objects.get(pk=good.pk).encrypted_key == good.encrypted_key


@pytest.mark.django_db
def test_a_stored_credential_needs_keys_but_in_local(settings: Settings) -> None:
    def sentences() -> list[str]:
        return [problem.msg for problem in database_rules(databases=["default"]) if problem.id == "porthole.E023"]

    store_source()
    assert sentences() == []
    assert unreadable_credentials() == 0
    settings.IS_LOCAL = False
    assert unreadable_credentials() == 1
    assert len(sentences()) == 1
    settings.ENCRYPTION_KEYS = [NEW]
    assert sentences() == []


def test_a_mac_is_what_django_makes_of_the_same_words(settings: Settings) -> None:
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "newer", ["older"]
    expected = [salted_hmac("what for", "said", secret=key, algorithm="sha256").digest() for key in ("newer", "older")]
    assert [*macs("what for", "said")] == [*macs("what for", b"said")] == expected
