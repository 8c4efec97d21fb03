"""Health, metrics, the web UI, the API's own description."""

import gzip
import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from alembic.config import Config
from alembic.script import ScriptDirectory

from wallwatch_backend.api import new_api
from wallwatch_backend.kit.health.service import REQUIRED_REVISION

REPOSITORY = Path(__file__).resolve().parents[3]
PAGE_SCRIPT = b"// plain\n" * 200


@pytest.fixture(scope="module")
def backend_settings(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    folder = tmp_path_factory.mktemp("ui")
    (folder / "index.html").write_text("<!doctype html><title>Wallwatch</title>")
    (folder / "assets").mkdir()
    (folder / "assets" / "app.js").write_text("export {}")
    (folder / "assets" / "large.js").write_text("export const a = 1;\n" * 2_000)
    (folder / "assets" / "page.js").write_bytes(PAGE_SCRIPT)
    (folder / "assets" / "page.js.br").write_bytes(b"in Brotli")
    (folder / "assets" / "page.js.gz").write_bytes(gzip.compress(PAGE_SCRIPT, mtime=0))
    return {"ui_dir": folder}


def test_a_running_process_is_healthy(anonymous: httpx.Client) -> None:
    assert anonymous.get("/-/healthy").json() == {"status": "ok"}


def test_a_process_with_database_migrations_and_kafka_is_ready(anonymous: httpx.Client) -> None:
    answer = anonymous.get("/-/ready")
    assert answer.status_code == 200, answer.text
    assert set(answer.json()["checks"]) == {"database", "migrations", "kafka"}


def test_an_old_schema_is_not_ready_and_says_what_to_do(anonymous: httpx.Client, backend: Any) -> None:
    with backend.connect() as connection:
        connection.execute("UPDATE alembic_version SET version_num = '0001'")
        answer = anonymous.get("/-/ready")
        connection.execute("UPDATE alembic_version SET version_num = %s", [REQUIRED_REVISION])
    assert answer.status_code == 503
    assert "wallwatch db upgrade" in answer.json()["checks"]["migrations"]["detail"]


def test_the_required_revision_is_one_of_the_migrations() -> None:
    config = Config()
    config.set_main_option("script_location", str(REPOSITORY / "migrations"))
    assert REQUIRED_REVISION in {revision.revision for revision in ScriptDirectory.from_config(config).walk_revisions()}


def test_revisions_have_ascending_numbers() -> None:
    """Readiness compares numbers. A revision that is merged late goes before those with greater numbers: change their `down_revision`."""
    config = Config()
    config.set_main_option("script_location", str(REPOSITORY / "migrations"))
    numbers = [revision.revision for revision in ScriptDirectory.from_config(config).walk_revisions()]
    assert numbers == sorted(numbers, reverse=True)


def test_metrics_name_routes_not_paths(anonymous: httpx.Client) -> None:
    anonymous.get("/api/v1/rnics/some-host/0000:3b:00.0")
    text = anonymous.get("/metrics").text
    assert "some-host" not in text
    assert "wallwatch_http_requests_total" in text


def test_a_counter_is_one_series_without_the_time_of_its_creation(anonymous: httpx.Client) -> None:
    anonymous.get("/api/v1/status")
    text = anonymous.get("/metrics", headers={"Accept": "application/openmetrics-text"}).text
    assert "_total{" in text
    assert "_created" not in text


def test_parts_of_a_page_have_no_headers_of_documents_and_cannot_become_one(anonymous: httpx.Client) -> None:
    of_documents = {"content-security-policy", "x-frame-options", "referrer-policy", "cross-origin-opener-policy", "permissions-policy"}
    page = anonymous.get("/", headers={"Accept": "text/html", "Sec-Fetch-Mode": "navigate"})
    assert of_documents <= page.headers.keys()
    assert of_documents <= anonymous.get("/api/v1/session").headers.keys()
    for path in ("/assets/app.js", "/assets/page.js"):
        part = anonymous.get(path)
        assert part.headers["x-content-type-options"] == "nosniff"
        assert not of_documents & part.headers.keys()


def test_paths_of_the_uis_router_get_its_page_and_files_get_themselves(anonymous: httpx.Client) -> None:
    for path in ("/", "/incidents/1", "/rnics/host01/0000:3b:00.0"):
        answer = anonymous.get(path, headers={"Accept": "text/html", "Sec-Fetch-Mode": "navigate"})
        assert "<title>Wallwatch" in answer.text, path
        assert "default-src 'self'" in answer.headers["content-security-policy"]
    assert anonymous.get("/assets/app.js").text == "export {}"
    assert anonymous.get("/assets/../../../etc/passwd").status_code == 404


def test_browsers_keep_assets_for_ever_and_ask_again_for_the_page(anonymous: httpx.Client) -> None:
    navigation = {"Accept": "text/html", "Sec-Fetch-Mode": "navigate"}
    asset = anonymous.get("/assets/app.js")
    assert asset.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert not {"last-modified", "accept-ranges"} & asset.headers.keys()
    again = anonymous.get("/assets/app.js", headers={"If-None-Match": asset.headers["etag"]})
    assert (again.status_code, again.headers["cache-control"]) == (304, "public, max-age=31536000, immutable")
    for path in ("/", "/incidents/1", "/assets/of-another-build.js"):
        answer = anonymous.get(path, headers=navigation)
        assert answer.status_code == 404 or answer.headers["cache-control"] == "no-cache", path
    assert anonymous.get("/api/v1/session").headers["cache-control"] == "no-store"


def test_scripts_are_sent_compressed(anonymous: httpx.Client) -> None:
    answer = anonymous.get("/assets/large.js", headers={"Accept-Encoding": "gzip"})
    assert answer.headers["content-encoding"] == "gzip"
    assert answer.num_bytes_downloaded < 4_000
    assert len(answer.text) > 20_000


@pytest.mark.parametrize(
    ("asked", "coding"),
    [("gzip, deflate, br", "br"), ("br;q=0, gzip", "gzip"), ("gzip", "gzip"), ("identity", None), ("", None)],
)
def test_what_the_build_has_compressed_is_sent_as_it_is(anonymous: httpx.Client, asked: str, coding: str | None) -> None:
    with anonymous.stream("GET", "/assets/page.js", headers={"Accept-Encoding": asked}) as answer:
        body = b"".join(answer.iter_raw())
    headers = answer.headers
    sent = {"br": b"in Brotli", "gzip": gzip.compress(PAGE_SCRIPT, mtime=0), None: PAGE_SCRIPT}[coding]
    assert (headers.get("content-encoding"), body) == (coding, sent)
    assert headers["content-length"] == str(len(sent))
    assert "accept-encoding" in headers["vary"].lower()
    assert headers["content-type"].startswith("text/javascript")
    assert headers["cache-control"] == "public, max-age=31536000, immutable"
    unchanged = {"Accept-Encoding": asked, "If-None-Match": headers["etag"]}
    assert anonymous.get("/assets/page.js", headers=unchanged).status_code == 304


def test_unknown_paths_of_the_api_stay_problems_alongside_the_ui(anonymous: httpx.Client) -> None:
    answer = anonymous.get("/api/v1/nothing", headers={"Accept": "application/json"})
    assert (answer.status_code, answer.headers["content-type"]) == (404, "application/problem+json")
    assert anonymous.put("/api/v1/fleet").status_code == 405


def test_the_checked_in_description_is_the_apis(anonymous: httpx.Client) -> None:
    checked_in = json.loads((REPOSITORY / "frontend" / "src" / "lib" / "api" / "openapi.json").read_text())
    assert checked_in == new_api().openapi(), "run: python -m wallwatch_backend.openapi > frontend/src/lib/api/openapi.json"
    assert anonymous.get("/api/v1/openapi.json").json() == checked_in


def test_a_body_that_is_too_large_is_refused(anonymous: httpx.Client) -> None:
    answer = anonymous.post(
        "/api/v1/session", content=b'{"username": "' + b"x" * 2_000_000 + b'"}', headers={"content-type": "application/json"}
    )
    assert (answer.status_code, answer.json()["code"]) == (413, "content_too_large")
    assert answer.headers["content-type"] == "application/problem+json"


def test_a_body_without_a_length_is_refused_once_it_is_too_large(anonymous: httpx.Client) -> None:
    answer = anonymous.post("/api/v1/session", content=iter([b"x" * 600_000] * 2), headers={"content-type": "application/json"})
    assert (answer.status_code, answer.json()["code"]) == (413, "content_too_large")
