"""Log lines as JSON, one object a line."""

import json
import logging
from datetime import UTC, datetime

import orjson


class JsonFormatter(logging.Formatter):
    """`{"time", "level", "logger", "message", …}` and whatever the caller put in `extra={"fields": {…}}`."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")[:-6] + "Z",
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if request_id := getattr(getattr(record, "request", None), "id", None):  # what Django itself logs
            line["requestId"] = request_id
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        try:
            return orjson.dumps(line, default=str).decode()
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
        # The access log has a line for each of these already.
        "django.request": {"level": "ERROR"},
        "django.security.DisallowedHost": {"level": "CRITICAL"},
        # At DEBUG they name codes and tokens: not even where an operator turns the root logger up.
        "oauthlib": {"level": "INFO"},
        "oauth2_provider": {"level": "INFO"},
    },
}
