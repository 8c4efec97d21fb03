"""The address that opens a new ticket about a found cause, with its title and text filled in."""

import re
from urllib.parse import quote

from wallwatch_backend.lab.schemas_report import FoundCause, LabReport

LONGEST_TEXT = 3000
"""Characters of a ticket's text: trackers and proxies refuse addresses of more than some 8,000 bytes."""
_PLACE = re.compile(r"\{title\}|\{text\}")
_CUT = "\n…\n(shortened; the whole text is on the page of the campaign)\n"


def title(cause: FoundCause, report: LabReport) -> str:
    """The title of a ticket.

    >>> title(FoundCause(id=1, symptom="S6", text="S6 appears when masks is at least 32."), LabReport(device="CX-6"))
    'CX-6: S6 appears when masks is at least 32'
    """
    return f"{report.device}: {cause.text.rstrip('.')}"


def address(template: str, title: str, text: str) -> str:
    """The template of the setting `ticket_url` with `{title}` and `{text}` replaced.

    >>> address("https://tracker.example/new?summary={title}&description={text}", "S6 & more", "a b")
    'https://tracker.example/new?summary=S6%20%26%20more&description=a%20b'
    """
    if len(text) > LONGEST_TEXT:
        text = text[: LONGEST_TEXT - len(_CUT)] + _CUT
    values = {"{title}": quote(title, safe=""), "{text}": quote(text, safe="")}
    return _PLACE.sub(lambda found: values[found.group()], template)
