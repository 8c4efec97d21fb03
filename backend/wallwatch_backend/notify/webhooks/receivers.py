"""Whether a webhook's format, address and key go together."""

from hashlib import sha256

from wallwatch_backend.notify.models import WebhookRow
from wallwatch_backend.notify.schemas import KEYED_FORMATS, Format
from wallwatch_backend.notify.webhooks import mail_addresses, urls
from wallwatch_backend.notify.webhooks.errors import BadUrl, UnfitReceiver
from wallwatch_backend.settings import Settings

_KEYS = {
    Format.pagerduty: "the routing key of the service's integration “Events API V2”",
    Format.opsgenie: "the key of the API integration",
}


async def check(row: WebhookRow, settings: Settings) -> None:
    """Refuse what could never be delivered.

    Raises
    ------
    BadUrl
        When the address is not one of the format, or must not be called.
    UnfitReceiver
        When the format needs a key or a mail server and there is none.
    """
    format = Format(row.format)
    if format is Format.email:
        if not mail_addresses.is_mail(row.url):
            raise BadUrl("E-mail goes to recipients, not to a URL: mailto:ann@example.org,bob@example.org.")
        mail_addresses.recipients(row.url)
        if settings.smtp_host is None:
            raise UnfitReceiver("The server has no mail server: set WALLWATCH_SMTP_HOST and WALLWATCH_SMTP_FROM, and restart it.")
        return
    if mail_addresses.is_mail(row.url):
        raise BadUrl("Recipients of e-mail go with the format email only.")
    if format in KEYED_FORMATS and row.credential is None:
        raise UnfitReceiver(f"This format needs `credential`, {_KEYS[format]}.")
    await urls.check(row.url, settings.webhook_allow_private)


def fingerprint(credential: str) -> str:
    """Shows which key is stored, without showing it.

    >>> fingerprint("0123456789abcdef0123456789abcdef")
    '3eb1bd43'
    """
    return sha256(credential.encode()).hexdigest()[:8]
