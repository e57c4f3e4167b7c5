"""gunicorn's own log lines, as JSON like all others."""

from logging.config import dictConfig
from typing import Any

from gunicorn.glogging import Logger

from apps.web.logs import CONFIGURATION, JsonFormatter


class JsonLogger(Logger):
    """Hands them to the root logger, so that they pass whatever its handlers filter."""

    def setup(self, cfg: Any) -> None:
        super().setup(cfg)
        dictConfig(CONFIGURATION)  # Django does it too, but only when the application is loaded
        if cfg.errorlog == "-":
            self.error_log.handlers.clear()
            self.error_log.propagate = True
        for handler in self.error_log.handlers:
            handler.setFormatter(JsonFormatter())
