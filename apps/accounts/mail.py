"""Sends mail: at once, or in the background."""

import logging
from smtplib import SMTPException
from threading import Thread

from django.conf import settings
from django.core.mail import EmailMessage

log = logging.getLogger("porthole.mail")


class NotSent(Exception):
    """The mail could not be handed over; the message says why, for operators."""


def send(message: EmailMessage) -> None:
    """Raises NotSent."""
    if not settings.MAIL_IS_SET_UP:
        raise NotSent("EMAIL_URL is not set, so this installation cannot send mail.")
    try:
        message.send()
    except (OSError, SMTPException) as error:
        raise NotSent(f"The mail server did not take the mail ({type(error).__name__}).") from error


def send_in_background(message: EmailMessage) -> None:
    """Sends in a thread of its own. What goes wrong is logged, without the address."""
    start(Thread(target=_send_and_log, args=(message,), name="mail"))


def start(thread: Thread) -> None:
    thread.start()


def _send_and_log(message: EmailMessage) -> None:
    try:
        send(message)
    except NotSent as error:
        log.error("a mail was not sent: %s", error)
