"""`/api/docs`: the API to read, without scripts and without other servers."""

import re
from html.parser import HTMLParser

import httpx
import pytest

from wallwatch_backend.api import new_api
from wallwatch_backend.api_page import PATH

API = new_api()
DOCUMENT = API.openapi()


class Page(HTMLParser):
    """Tags that are open, ids, and where links lead."""

    VOID = frozenset({"meta", "br"})

    def __init__(self) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.tags: set[str] = set()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.tags.add(tag)
        if tag not in self.VOID:
            self.open.append(tag)
        self.ids += [value for value in (values.get("id"),) if value]
        self.links += [value for name in ("href", "src") if (value := values.get(name))]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.fixture
async def text() -> str:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(API), base_url="http://wallwatch.example") as client:
        answer = await client.get(PATH)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    return answer.text


def test_every_operation_and_schema_is_on_the_page_and_every_link_leads_somewhere(text: str) -> None:
    page = Page()
    page.feed(text)
    assert page.open == []
    assert len(set(page.ids)) == len(page.ids)
    operations = {operation["operationId"] for methods in DOCUMENT["paths"].values() for operation in methods.values()}
    assert operations <= set(page.ids)
    assert {f"schema-{name}" for name in DOCUMENT["components"]["schemas"]} <= set(page.ids)
    assert {link.removeprefix("#") for link in page.links if link.startswith("#")} <= set(page.ids)


def test_it_loads_nothing(text: str) -> None:
    page = Page()
    page.feed(text)
    assert not page.tags & {"script", "img", "link", "iframe"}
    assert [link for link in page.links if not link.startswith("#")] == ["/api/v1/openapi.json"]
    assert not re.search(r"@import|url\(", text)
