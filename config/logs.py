"""Log lines as JSON, one object a line."""

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
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return orjson.dumps(line, default=str).decode()
