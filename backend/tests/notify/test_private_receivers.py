"""A server whose webhooks must not reach the internal network refuses private receivers when they are entered and when they are changed."""

import httpx
import pytest


@pytest.fixture(scope="module")
def backend_settings() -> dict[str, object]:
    return {"webhook_allow_private": False}


PRIVATE = ["http://127.0.0.1:8080/hook", "http://10.0.0.7/", "http://[::1]/", "http://localhost/"]


@pytest.mark.parametrize("url", PRIVATE)
def test_a_private_receiver_is_refused(admin: httpx.Client, url: str) -> None:
    answer = admin.post("/api/v1/webhooks", json={"name": "inside", "url": url})
    assert (answer.status_code, answer.json()["code"]) == (422, "bad_url")
    assert "WALLWATCH_WEBHOOK_ALLOW_PRIVATE is false" in answer.json()["detail"]


def test_a_public_receiver_is_accepted_and_cannot_be_moved_inside(admin: httpx.Client) -> None:
    made = admin.post("/api/v1/webhooks", json={"name": "outside", "url": "http://1.1.1.1:9/hook", "enabled": False})
    assert made.status_code == 201, made.text
    for url in PRIVATE:
        moved = admin.patch(f"/api/v1/webhooks/{made.json()['id']}", json={"url": url})
        assert (moved.status_code, moved.json()["code"]) == (422, "bad_url")
    assert admin.delete(f"/api/v1/webhooks/{made.json()['id']}").status_code == 204
