"""Sends a delivery as an e-mail, through the mail server of the settings."""

import asyncio
import smtplib
import ssl
import time
from datetime import datetime
from email.message import EmailMessage
from email.utils import format_datetime
from hashlib import sha256
from uuid import UUID

import orjson
import structlog

from wallwatch_backend import __version__
from wallwatch_backend.notify.deliveries.outcome import Outcome
from wallwatch_backend.notify.webhooks import mail_addresses
from wallwatch_backend.settings import Settings

log = structlog.get_logger(__name__)


class Mailer:
    """Mail server and sender of the settings."""

    def __init__(self, settings: Settings, tls: ssl.SSLContext | None = None) -> None:
        self._settings, self._tls = settings, tls

    async def send(self, url: str, body: str, delivery_id: UUID, at: datetime) -> Outcome:
        """Send one message to all recipients of a `mailto:` address; every failure is an outcome, none raises."""
        started = time.monotonic()
        error: str | None = None
        refused = False
        try:
            await asyncio.to_thread(self._submit, self.message(url, body, delivery_id, at))
        except smtplib.SMTPResponseException as refusal:
            error = f"the mail server answered {refusal.smtp_code} {_text(refusal.smtp_error)}"
            # A sign-in that fails is about this server's settings: messages wait until they are right.
            refused = isinstance(refusal, smtplib.SMTPSenderRefused | smtplib.SMTPDataError) and _is_final(refusal.smtp_code)
        except smtplib.SMTPRecipientsRefused as refusal:
            code, text = next(iter(refusal.recipients.values()))
            error = f"the mail server refused all recipients: {code} {_text(text)}"
            refused = all(_is_final(code) for code, _ in refusal.recipients.values())
        except (smtplib.SMTPException, OSError, ValueError) as failure:
            error = f"{type(failure).__name__}: {failure}"[:300]
        return Outcome(at, None, round((time.monotonic() - started) * 1000), error, refused)

    def message(self, url: str, body: str, delivery_id: UUID, at: datetime) -> EmailMessage:
        """The message. Its id is the delivery's, so that a second attempt is the same message; mail programs show a thread per incident."""
        stored = orjson.loads(body)
        sender = self._settings.smtp_from
        domain = sender.rpartition("@")[2].rstrip(">")
        thread = f"<{sha256(stored['thread'].encode()).hexdigest()[:32]}@{domain}>"
        message = EmailMessage()
        message["From"] = sender
        message["To"] = ", ".join(mail_addresses.recipients(url))
        message["Subject"] = stored["subject"]
        message["Date"] = format_datetime(at)
        message["Message-ID"] = f"<{delivery_id}@{domain}>"
        message["In-Reply-To"] = message["References"] = thread
        message["Auto-Submitted"] = "auto-generated"  # RFC 3834: no out-of-office answers
        message["X-Mailer"] = f"wallwatch/{__version__}"
        message.set_content(stored["text"] + "\n")
        return message

    def _submit(self, message: EmailMessage) -> None:
        settings = self._settings
        if settings.smtp_host is None:
            raise ValueError("WALLWATCH_SMTP_HOST is not set")
        with self._connection(settings.smtp_host) as server:
            if settings.smtp_security == "starttls":
                server.starttls(context=self._context())
            if settings.smtp_username is not None:
                password = settings.smtp_password.get_secret_value() if settings.smtp_password is not None else ""
                server.login(settings.smtp_username, password)
            refused = server.send_message(message)
        if refused:  # the others have it, and would get it again if it were sent again
            log.warning("mail_recipients_refused", recipients=sorted(refused), message_id=message["Message-ID"])

    def _connection(self, host: str) -> smtplib.SMTP:
        settings = self._settings
        if settings.smtp_security == "tls":
            return smtplib.SMTP_SSL(host, settings.smtp_port, timeout=settings.webhook_timeout_s, context=self._context())
        return smtplib.SMTP(host, settings.smtp_port, timeout=settings.webhook_timeout_s)

    def _context(self) -> ssl.SSLContext:
        return self._tls or ssl.create_default_context()


def _is_final(code: int) -> bool:
    """Whether the same message would be refused again (RFC 5321, 4.2.1). 530 asks for a sign-in, which is a matter of the settings."""
    return 500 <= code < 600 and code != 530


def _text(answer: bytes | str) -> str:
    return (answer.decode(errors="replace") if isinstance(answer, bytes) else answer)[:200]
