"""Sessions: stored so that the table opens none of them, and how long they last. This module is SESSION_ENGINE."""

import base64
import hashlib
from datetime import UTC, datetime, timedelta
from typing import Any, cast

from django.contrib.auth import HASH_SESSION_KEY, SESSION_KEY
from django.contrib.auth.middleware import AuthenticationMiddleware as DjangoAuthenticationMiddleware
from django.contrib.auth.middleware import get_user
from django.contrib.auth.models import AnonymousUser
from django.contrib.sessions.backends.db import SessionStore as DatabaseStore
from django.contrib.sessions.models import Session
from django.http import HttpRequest
from django.utils import timezone
from django.utils.functional import SimpleLazyObject

from apps.orgs.models import User

LIFETIME = timedelta(days=14)  # since the sign-in; also of sessions in which nobody is signed in
OPERATORS_LIFETIME = timedelta(hours=12)
OPERATORS_IDLE_TIME = timedelta(hours=1)
PRECISION = timedelta(minutes=1)  # an operator's pages note at most once in this time that somebody is there
SIGNED_IN_AT = "signed_in_at"


def hash_key(key: str) -> str:
    """What is stored for the key in a cookie: SHA-256, the 240 bits of it for which the column has room."""
    return base64.urlsafe_b64encode(hashlib.sha256(key.encode()).digest()).decode()[:40]


class SessionStore(DatabaseStore):
    """Django's, but that rows have `hash_key` of their key, and an end that saving them does not move.

    Only what is synchronous: nothing here is served otherwise.
    """

    def __init__(self, session_key: str | None = None) -> None:
        super().__init__(session_key)
        self.ends_at: datetime | None = None  # known once it is loaded, or somebody signed in
        self.keeps_key = False

    def load(self) -> dict[str, Any]:
        row = Session.objects.filter(session_key=self._stored_key(), expire_date__gt=timezone.now()).first()
        if row is None:
            self._session_key = None
            return {}
        self.ends_at = row.expire_date
        data: dict[str, Any] = self.decode(row.session_data)
        return data

    def exists(self, session_key: str) -> bool:
        return super().exists(hash_key(session_key))

    def create_model_instance(self, data: dict[str, Any]) -> Session:
        row = cast(Session, super().create_model_instance(data))
        row.session_key = self._stored_key()
        return row

    def delete(self, session_key: str | None = None) -> None:
        if key := session_key or self.session_key:
            super().delete(hash_key(key))

    def cycle_key(self) -> None:
        if not self.keeps_key:
            super().cycle_key()

    def flush(self) -> None:
        super().flush()
        self.ends_at = None

    def get_expiry_date(self, **kwargs: Any) -> datetime:
        return self.ends_at or super().get_expiry_date(**kwargs)

    def move_end(self, moment: datetime) -> None:
        """Only this column: another request may be changing what the session holds."""
        self.ends_at = moment
        Session.objects.filter(session_key=self._stored_key()).update(expire_date=moment)

    def _stored_key(self) -> str:
        return hash_key(self.session_key or "")


class AuthenticationMiddleware(DjangoAuthenticationMiddleware):
    """`request.user` is nobody once the session's time is over. Still looked up only where somebody asks for it."""

    def process_request(self, request: HttpRequest) -> None:
        super().process_request(request)
        request.user = SimpleLazyObject(lambda: _current_user(request))  # type: ignore[assignment]


def _current_user(request: HttpRequest) -> User | AnonymousUser:
    user = _user_of(request.session, request)  # type: ignore[arg-type]
    if isinstance(user, User) and not _goes_on(request.session, user):  # type: ignore[arg-type]
        request.session.flush()
        return AnonymousUser()
    return user


def _user_of(session: SessionStore, request: HttpRequest) -> User | AnonymousUser:
    """Django's `get_user`, but that a session which a fallback of SECRET_KEY proves is not saved under another key.

    That would sign out whoever asks for two pages at once. What proves it is renewed when the session is saved next,
    and by `rotate_keys`.
    """
    was_modified, session.keeps_key = session.modified, True
    user: User | AnonymousUser = get_user(request)
    session.keeps_key = False
    if user.is_authenticated:
        session.modified = was_modified
    return user


def _goes_on(session: SessionStore, user: User) -> bool:
    """The only place that ends sessions. Whether somebody is an operator is asked anew each time."""
    now = timezone.now()
    end = _end_of(user, _signed_in_at(session, now), now)
    if end > now and (session.ends_at is None or abs(session.ends_at - end) >= PRECISION):
        session.move_end(end)
    return end > now


def _end_of(user: User, signed_in_at: datetime, now: datetime) -> datetime:
    if user.is_staff:
        return min(signed_in_at + OPERATORS_LIFETIME, now + OPERATORS_IDLE_TIME)
    return signed_in_at + LIFETIME


def _signed_in_at(session: SessionStore, now: datetime) -> datetime:
    if SIGNED_IN_AT not in session:  # an earlier release made it, and gave it this time from when it was last saved
        session[SIGNED_IN_AT] = min(now, (session.ends_at or now + LIFETIME) - LIFETIME).timestamp()
    return datetime.fromtimestamp(session[SIGNED_IN_AT], UTC)


def begin(request: HttpRequest, user: User, **_: Any) -> None:
    """Somebody signed in, with every factor that is asked for. Django's signal."""
    now = timezone.now()
    request.session[SIGNED_IN_AT] = now.timestamp()
    request.session.ends_at = _end_of(user, now, now)  # type: ignore[attr-defined]


def rotate() -> int:
    """Signs all sessions with SECRET_KEY, and returns how many: afterwards they need no fallback.

    One that a request saves at the same moment is signed by that request.
    """
    rows = Session.objects.filter(expire_date__gt=timezone.now()).order_by("pk")
    return sum(_sign(row) for row in rows.iterator(chunk_size=500))


def _sign(row: Session) -> bool:
    store = SessionStore()
    data = store.decode(row.session_data)
    if not data:  # no key reads it: whoever had it is signed out already
        return False
    user = User.objects.filter(pk=data[SESSION_KEY]).first() if SESSION_KEY in data else None
    if user is not None and data.get(HASH_SESSION_KEY, "") in user.get_session_auth_fallback_hash():
        data[HASH_SESSION_KEY] = user.get_session_auth_hash()
    same = Session.objects.filter(pk=row.pk, session_data=row.session_data)
    return bool(same.update(session_data=store.encode(data)))
