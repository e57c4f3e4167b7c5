"""Prints mails instead of sending them, in local: so that they stand out from the log, with links to click."""

import sys
from collections.abc import Sequence
from email.header import decode_header, make_header
from email.message import Message

from django.core.mail import EmailMessage
from django.core.mail.backends.base import BaseEmailBackend

WIDTH = 78
RULE = "=" * WIDTH
HEADING = " Mail that would be sent ".center(WIDTH, "=")
HEADERS = ("To", "Subject")


class EmailBackend(BaseEmailBackend):
    """Writes each mail at once, so that no line of another thread gets into it."""

    def send_messages(self, email_messages: Sequence[EmailMessage]) -> int:
        for message in email_messages:
            sys.stdout.write(printed(message.message()))
            sys.stdout.flush()
        return len(email_messages)


def printed(mail: Message) -> str:
    """Links stand alone in their lines, whole: terminals find them there."""
    lines = [f"{name}: {make_header(decode_header(str(mail[name])))}" for name in HEADERS]
    payload = mail.get_payload(decode=True)
    body = payload.decode() if isinstance(payload, bytes) else ""
    return _visible("\n".join(["", HEADING, *lines, "", body.strip(), RULE, "", ""]))


def _visible(text: str) -> str:
    """Without what terminals act on: names in mails are typed in by people."""
    return "".join(character if character.isprintable() or character == "\n" else "�" for character in text)
