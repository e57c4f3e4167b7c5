"""What tools, sources and doors raise when they cannot answer. errors.py turns each into JSON."""

from dataclasses import dataclass

ENDED_TOO_EARLY = "The body ended too early: send all of it."


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong with an input: `field` is the input's JSON name (None: the body as a whole)."""

    field: str | None
    msg: str
    type: str

    def as_json(self) -> dict[str, object]:
        return {"loc": ["body", self.field] if self.field is not None else ["body"], "msg": self.msg, "type": self.type}


class InvalidInput(Exception):
    """422 `invalid_input`: the input cannot be used, or what it names is not there."""

    def __init__(self, *problems: Problem) -> None:
        super().__init__(*problems)
        self.problems = problems

    @classmethod
    def because(cls, field: str | None, msg: str, type: str) -> "InvalidInput":
        return cls(Problem(field, msg, type))


class Unavailable(Exception):
    """503 `unavailable`: a repository or the database cannot be reached and there is no stored copy.

    `retry_after` is in seconds; the message is a sentence that is safe to show to a client: it says what cannot be
    reached, by what it is and never by its address.
    """

    def __init__(self, msg: str, retry_after: int = 10) -> None:
        super().__init__(msg)
        self.retry_after = retry_after


def again_in(seconds: int) -> str:
    return f"Try again in {seconds} second{'' if seconds == 1 else 's'}."


class Refused(Exception):
    """A request that does not get as far as a tool. `detail` is a sentence; `headers` go out with the answer."""

    def __init__(self, status: int, code: str, detail: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code
        self.detail = detail
        self.headers = headers or {}

    @property
    def retry_after(self) -> int | None:
        """In seconds, where it says so."""
        seconds = self.headers.get("Retry-After")
        return int(seconds) if seconds else None
