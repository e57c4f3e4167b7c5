"""Log lines as JSON, one object a line, without secrets: every logger's lines come out here."""

import json
import logging
import time
from datetime import UTC, datetime
from typing import Any

import orjson

from apps.web.characters import escaped_json
from apps.web.redaction import current_request, redact, secrets_of

ACCESS = "porthole.access"  # its fields are chosen and redacted one by one (apps.web.middleware)

# No line says where in the code it comes from, so nobody has to find that out for each (logging's "Optimization").
logging._srcfile = None
logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False


# What is the same in each line of the access log: making it anew would look for its file's name each time.
_OF_ALL = vars(logging.LogRecord(ACCESS, logging.INFO, "", 0, "%s %s %s", (), None))


def access_record(said: tuple[str, str, int], fields: dict[str, Any]) -> logging.LogRecord:
    """`said`: method, path and status. `fields`: chosen and redacted."""
    record, now = logging.LogRecord.__new__(logging.LogRecord), time.time()
    record.__dict__ = {**_OF_ALL, "args": said, "fields": fields, "created": now, "msecs": int(now % 1 * 1000)}
    return record


class JsonFormatter(logging.Formatter):
    """`{"time", "level", "logger", "message", …}` and whatever the caller put in `extra={"fields": {…}}`.

    Redacts what is written, not the record: after arguments were filled in and tracebacks made, nothing is added.
    """

    def format(self, record: logging.LogRecord) -> str:
        request = getattr(record, "request", None)  # what Django itself logs
        said = {"message": record.getMessage(), **getattr(record, "fields", {})}
        if record.exc_info:
            said["exception"] = self.formatException(record.exc_info)
        if record.name != ACCESS:
            said = redact(said, secrets_of(request or current_request.get()))
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")[:-6] + "Z",
            "level": record.levelname.lower(),
            "logger": record.name,
            **said,
        }
        if request_id := getattr(request, "id", None):
            line["requestId"] = request_id
        try:
            return escaped_json(orjson.dumps(line, default=str)).decode()
        except TypeError:  # half of a surrogate pair, or an integer over 64 bits: a line must not get lost for it
            return json.dumps(line, default=str)


CONFIGURATION = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"json": {"()": "apps.web.logs.JsonFormatter"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "json"}},
    "root": {"handlers": ["console"], "level": "INFO"},
    "loggers": {
        "django": {"handlers": [], "level": "INFO", "propagate": True},
        "django.server": {"handlers": [], "level": "ERROR", "propagate": True},  # runserver's, with whole request lines
        # The access log has a line for each of these already.
        "django.request": {"level": "ERROR"},
        "django.security.DisallowedHost": {"level": "CRITICAL"},
        # At DEBUG they name codes and tokens: not even where an operator turns the root logger up.
        "oauthlib": {"level": "INFO"},
        "oauth2_provider": {"level": "INFO"},
    },
}
