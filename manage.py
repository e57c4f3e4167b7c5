#!/usr/bin/env python
"""Django's command line for Porthole."""

import os
import sys

from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line


def before_settings(arguments: list[str]) -> None:
    """Whoever asks for help needs no settings, and setup makes keys without which there are none."""
    if {"-h", "--help"} & {*arguments}:
        os.environ.setdefault("PORTHOLE_ENV", "local")
    elif arguments[:1] == ["setup"] and os.environ.get("PORTHOLE_ENV") != "local":
        # Only setup needs to import it.
        from config.env import Env
        from config.keys import generate

        for sentence in generate(Env()):
            print(sentence)  # noqa: T201  (a command's answer)


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    try:
        before_settings(sys.argv[1:])
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        sys.exit(f"Porthole does not start: {error}")


if __name__ == "__main__":
    main()
