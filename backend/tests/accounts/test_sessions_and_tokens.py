"""How long sessions and tokens last, what is listed of them, and what slows guessing down."""

import hashlib
from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import httpx
import pytest

from wallwatch_backend.accounts.session import repository as sessions
from wallwatch_backend.accounts.tokens import repository as tokens
from wallwatch_backend.kit.access import SESSION_COOKIE
from wallwatch_backend.kit.database import Database

ID = "00000000-0000-4000-8000-000000000000"
PASSWORD = "another long password"
PER_ACCOUNT, PER_ADDRESS, WINDOW_S = 3, 8, 3600


@pytest.fixture(scope="module")
def backend_settings() -> dict[str, object]:
    return {
        "session_hours": 7,
        "sign_in_failures_per_account": PER_ACCOUNT,
        "sign_in_failures_per_address": PER_ADDRESS,
        "sign_in_window_s": WINDOW_S,
    }


def new_user(admin: httpx.Client) -> dict[str, Any]:
    answer = admin.post("/api/v1/users", json={"username": f"user-{uuid4().hex[:8]}", "password": PASSWORD, "role": "viewer"})
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


def new_token(admin: httpx.Client, role: str = "viewer", **more: Any) -> dict[str, Any]:
    answer = admin.post("/api/v1/tokens", json={"name": f"robot-{uuid4().hex[:8]}", "role": role, **more})
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


def entries(admin: httpx.Client, action: str, actor: str) -> list[dict[str, Any]]:
    return list(admin.get("/api/v1/audit", params={"action": action, "actor": actor}).json()["items"])


def test_a_session_lasts_for_its_hours_and_is_noted_with_the_account(backend: Any, admin: httpx.Client) -> None:
    user = new_user(admin)
    assert user["last_sign_in_at"] is None
    with backend.client() as client, backend.connect() as connection:
        opened = client.post("/api/v1/session", json={"username": f"  {user['username'].upper()} ", "password": PASSWORD})
        assert opened.status_code == 201, opened.text
        assert opened.json()["user"] == {"username": user["username"], "role": "viewer"}
        digest = hashlib.sha256(client.cookies[SESSION_COOKIE].encode()).digest()
        expires_at, address = connection.execute("SELECT expires_at, address FROM user_session WHERE secret_hash = %s", [digest]).fetchone()
    assert abs(expires_at - datetime.now(UTC) - timedelta(hours=7)) < timedelta(minutes=5)
    assert address == "127.0.0.1"
    [signed_in] = [each for each in admin.get("/api/v1/users", params={"limit": 200}).json()["items"] if each["id"] == user["id"]]
    assert abs(datetime.fromisoformat(signed_in["last_sign_in_at"]) - datetime.now(UTC)) < timedelta(minutes=5)
    [entry] = entries(admin, "session.sign_in", user["username"])
    assert (entry["outcome"], entry["target"], entry["address"]) == ("ok", user["username"], "127.0.0.1")


def test_a_session_s_csrf_token_is_its_own(backend: Any) -> None:
    with closing(backend.signed_in("operator")) as one, closing(backend.signed_in("operator")) as other:
        assert one.headers["X-CSRF-Token"] != other.headers["X-CSRF-Token"]
        body = {"name": f"view-{uuid4().hex[:8]}", "query": ""}
        refused = one.post("/api/v1/views", json=body, headers={"X-CSRF-Token": other.headers["X-CSRF-Token"]})
        assert refused.json()["code"] == "csrf_mismatch"
        assert one.post("/api/v1/views", json=body).status_code == 201
        del one.headers["X-CSRF-Token"]
        assert one.get("/api/v1/views").status_code == 200, "reading needs no token"
        assert one.post("/api/v1/views", json={**body, "name": "another"}).json()["code"] == "csrf_mismatch"


def test_a_token_needs_no_csrf_header_and_says_whose_it_is(backend: Any, admin: httpx.Client) -> None:
    token = new_token(admin, "operator")
    with backend.client(headers={"Authorization": f"bearer {token['token']}"}) as robot:
        silence = {"matchers": [{"name": "host", "value": "x"}], "ends_at": "2100-01-01T00:00:00Z", "reason": "x"}
        created = robot.post("/api/v1/silences", json=silence)
        assert created.status_code == 201, created.text
        assert created.json()["created_by"] == f"token:{token['name']}"


def test_signing_out_ends_this_session_and_no_other_and_is_in_the_audit_log(backend: Any, admin: httpx.Client) -> None:
    user = new_user(admin)
    with backend.client() as one, backend.client() as other:
        for client in (one, other):
            opened = client.post("/api/v1/session", json={"username": user["username"], "password": PASSWORD})
            client.headers["X-CSRF-Token"] = opened.json()["csrf_token"]
        assert one.delete("/api/v1/session").status_code == 204
        assert other.get("/api/v1/session").status_code == 200
    [entry] = entries(admin, "session.sign_out", user["username"])
    assert (entry["target"], entry["address"], entry["outcome"]) == (user["username"], "127.0.0.1", "ok")


async def test_a_session_ends_and_is_deleted_at_the_very_moment_of_its_expiry(backend: Any) -> None:
    at = datetime(2020, 1, 1, tzinfo=UTC)
    database = Database(backend.settings)
    with closing(backend.signed_in("viewer")) as client, backend.connect() as connection:
        digest = hashlib.sha256(client.cookies[SESSION_COOKIE].encode()).digest()
        for expires_at, deleted in ((at + timedelta(microseconds=1), 0), (at, 1)):
            connection.execute("UPDATE user_session SET expires_at = %s WHERE secret_hash = %s", [expires_at, digest])
            async with database.read() as reading:
                assert (await sessions.valid(reading, [digest], at) == []) is bool(deleted)
            async with database.write() as session:
                assert await sessions.delete_expired(session, at) == deleted
    await database.dispose()


async def test_a_token_ends_at_the_very_moment_of_its_expiry(backend: Any, admin: httpx.Client) -> None:
    at = datetime(2100, 1, 1, tzinfo=UTC)
    token = new_token(admin)
    digest = hashlib.sha256(token["token"].encode()).digest()
    database = Database(backend.settings)
    with backend.connect() as connection:
        for expires_at, valid in ((None, True), (at + timedelta(microseconds=1), True), (at, False)):
            connection.execute("UPDATE api_token SET expires_at = %s WHERE id = %s", [expires_at, token["id"]])
            async with database.read() as reading:
                assert (await tokens.valid(reading, [digest], at) != []) is valid
                listed = {str(owned.row.id) for owned in await tokens.page(reading, at, None, 200)}
            assert (token["id"] in listed) is valid
    await database.dispose()


@pytest.mark.parametrize("days", ["default", None, 1, 30])
def test_a_token_lasts_for_its_days_and_shows_its_first_characters(admin: httpx.Client, days: Any) -> None:
    token = new_token(admin, "operator", **({} if days == "default" else {"ttl_days": days}))
    assert (token["created_by"], token["role"], token["last_used_at"]) == ("admin", "operator", None)
    assert token["prefix"] == token["token"][:9]
    if days is None:
        assert token["expires_at"] is None
    else:
        lasts = datetime.fromisoformat(token["expires_at"]) - datetime.now(UTC)
        assert abs(lasts - timedelta(days=90 if days == "default" else days)) < timedelta(minutes=5)
    entry = entries(admin, "token.create", "admin")[0]
    assert (entry["target"], entry["address"]) == (token["name"], "127.0.0.1")
    assert (entry["detail"]["role"], entry["detail"]["token_id"]) == ("operator", token["id"])


def test_valid_tokens_come_in_pages_newest_first(admin: httpx.Client, backend: Any) -> None:
    with backend.connect() as connection:
        connection.execute("DELETE FROM api_token")
    made = [new_token(admin) for _ in range(5)]
    expired, lasting = new_token(admin, ttl_days=1), new_token(admin, ttl_days=1)
    with backend.connect() as connection:
        connection.execute("UPDATE api_token SET expires_at = now() - interval '1 second' WHERE id = %s", [expired["id"]])
    expected = [token["name"] for token in (lasting, *reversed(made))]
    names, cursor, sizes = [], None, []
    while True:
        page = admin.get("/api/v1/tokens", params={"limit": 2, **({"cursor": cursor} if cursor else {})}).json()
        names += [token["name"] for token in page["items"]]
        sizes.append(len(page["items"]))
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert names == expected
    assert sizes == [2, 2, 2], "a full last page has no next one"
    assert len(admin.get("/api/v1/tokens", params={"limit": 5}).json()["items"]) == 5


def test_a_token_is_deleted_once_and_the_audit_log_knows_its_name(admin: httpx.Client) -> None:
    token = new_token(admin)
    assert admin.delete(f"/api/v1/tokens/{token['id']}").status_code == 204
    again = admin.delete(f"/api/v1/tokens/{token['id']}")
    assert (again.status_code, again.json()["code"]) == (404, "not_found")
    assert token["id"] in again.json()["detail"]
    entry = entries(admin, "token.delete", "admin")[0]
    assert (entry["target"], entry["address"], entry["detail"]["token_id"]) == (token["name"], "127.0.0.1", token["id"])


@pytest.mark.parametrize(("password", "reason"), [(PASSWORD, "disabled"), ("wrong password", "bad_credentials")])
def test_a_disabled_account_is_named_as_the_reason_in_the_audit_log_alone(
    backend: Any, admin: httpx.Client, password: str, reason: str
) -> None:
    user = new_user(admin)
    admin.patch(f"/api/v1/users/{user['id']}", json={"disabled": True})
    with backend.client() as client:
        answer = client.post("/api/v1/session", json={"username": user["username"], "password": password})
    assert (answer.status_code, answer.json()["code"]) == (401, "bad_credentials")
    [entry] = entries(admin, "session.sign_in", user["username"])
    assert (entry["outcome"], entry["detail"]["reason"], entry["address"]) == ("refused", reason, "127.0.0.1")


def test_guessing_is_slowed_down_per_account_and_per_address(backend: Any, admin: httpx.Client) -> None:
    """The last test of the module: from then on nobody signs in from this address."""
    refused = admin.get("/api/v1/audit", params={"action": "session.sign_in", "limit": 200}).json()["items"]
    before = sum(entry["outcome"] == "refused" and entry["action"] == "session.sign_in" for entry in refused)
    victim, other = new_user(admin)["username"], new_user(admin)["username"]

    def guess(username: str, password: str = "guess guess") -> httpx.Response:
        with backend.client() as client:
            answer: httpx.Response = client.post("/api/v1/session", json={"username": username, "password": password})
            return answer

    assert [guess(victim).status_code for _ in range(PER_ACCOUNT + 1)] == [401] * PER_ACCOUNT + [429]
    limited = guess(victim, PASSWORD)
    assert (limited.status_code, limited.headers["retry-after"]) == (429, str(WINDOW_S))
    assert f"{WINDOW_S} seconds" in limited.json()["detail"]
    entry = entries(admin, "session.sign_in_limited", victim)[0]
    assert (entry["outcome"], entry["target"], entry["address"]) == ("refused", victim, "127.0.0.1")
    assert guess(other, PASSWORD).status_code == 201
    left = PER_ADDRESS - PER_ACCOUNT - before
    assert left > 0
    for number in range(left):
        assert guess(f"nobody-{number}").status_code == 401
    assert guess("nobody-else").status_code == 429
    assert guess(other, PASSWORD).status_code == 429
