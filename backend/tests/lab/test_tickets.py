"""The link that opens a ticket about a cause in another system."""

from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from pydantic import ValidationError

from wallwatch_backend.lab import tickets
from wallwatch_backend.settings import Settings
from wallwatch_testing.lab_runner import Runner, finished

TEMPLATE = "https://tracker.example/new?project=OPS&summary={title}&description={text}"


@pytest.fixture(scope="module")
def backend_settings() -> dict[str, object]:
    return {"ticket_url": TEMPLATE}


def test_each_cause_of_a_campaign_has_a_link_with_its_title_and_text(operator: httpx.Client, runner: Runner, device: str) -> None:
    campaign = finished(operator, runner, device)
    cause = operator.get(f"/api/v1/lab/campaigns/{campaign['id']}").json()["report"]["causes"][0]
    address = urlsplit(cause["ticket_url"])
    fields = parse_qs(address.query)
    assert address.netloc == "tracker.example"
    assert fields["project"] == ["OPS"]
    assert fields["summary"][0].endswith(": S6 appears when egress_masks is at least 24")
    assert fields["description"] == [cause["reproducer"]]


def test_a_title_that_looks_like_a_place_changes_nothing_else() -> None:
    assert tickets.address("https://t.example/?a={title}&b={text}", "{text}", "S6") == "https://t.example/?a=%7Btext%7D&b=S6"


def test_a_long_text_is_shortened_and_says_so() -> None:
    address = tickets.address(TEMPLATE, "S6", "x" * 100_000)
    text = parse_qs(urlsplit(address).query)["description"][0]
    assert len(text) == tickets.LONGEST_TEXT
    assert "the whole text is on the page of the campaign" in text
    assert len(address) < 8_000


@pytest.mark.parametrize("template", ["javascript:alert({title})", "https://t.example/new", "https://t.example/?a={body}", "{title}"])
def test_a_template_that_is_no_web_address_or_has_no_place_is_refused(template: str) -> None:
    with pytest.raises(ValidationError, match="ticket_url"):
        Settings(database_url="postgresql://x/y", ticket_url=template)
