"""An account and its sessions: only the account itself sees and ends them."""

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import httpx
import pytest

PASSWORD = "another long password"
SESSIONS = "/api/v1/session/sessions"


@pytest.fixture
def username(admin: httpx.Client) -> str:
    name = f"user-{uuid4().hex[:8]}"
    assert admin.post("/api/v1/users", json={"username": name, "password": PASSWORD, "role": "viewer"}).status_code == 201
    return name


def sign_in(client: httpx.Client, username: str) -> httpx.Client:
    answer = client.post("/api/v1/session", json={"username": username, "password": PASSWORD})
    assert answer.status_code == 201, answer.text
    client.headers["X-CSRF-Token"] = answer.json()["csrf_token"]
    return client


@pytest.fixture
def here(backend: Any, username: str) -> Iterator[httpx.Client]:
    with backend.client() as client:
        yield sign_in(client, username)


@pytest.fixture
def elsewhere(backend: Any, username: str, here: httpx.Client) -> Iterator[httpx.Client]:
    with backend.client() as client:
        yield sign_in(client, username)


def sessions_of(client: httpx.Client) -> list[dict[str, Any]]:
    return list(client.get(SESSIONS).json()["items"])


def test_an_anonymous_caller_and_a_token_have_no_account(backend: Any, anonymous: httpx.Client, admin: httpx.Client) -> None:
    token = admin.post("/api/v1/tokens", json={"name": f"robot-{uuid4().hex[:8]}", "role": "admin"}).json()["token"]
    with backend.client(headers={"Authorization": f"Bearer {token}"}) as robot:
        for path in ("/api/v1/session/account", SESSIONS):
            assert anonymous.get(path).status_code == 401
            assert robot.get(path).status_code == 403
        assert robot.delete(SESSIONS).status_code == 403


def test_the_account_says_what_it_is(here: httpx.Client, username: str) -> None:
    account = here.get("/api/v1/session/account").json()
    assert account.pop("created_at")
    assert account == {
        "username": username,
        "role": "viewer",
        "single_sign_on": False,
        "second_factor_since": None,
        "recovery_codes_left": 0,
    }


def test_own_sessions_are_listed_with_this_one_marked(here: httpx.Client, elsewhere: httpx.Client) -> None:
    listed = sessions_of(here)
    assert len(listed) == 2
    assert [session["address"] for session in listed] == ["127.0.0.1"] * 2
    assert {session["id"] for session in listed if session["current"]} != {
        session["id"] for session in sessions_of(elsewhere) if session["current"]
    }


def test_one_session_is_ended_by_its_owner(here: httpx.Client, elsewhere: httpx.Client) -> None:
    [other] = [session for session in sessions_of(here) if not session["current"]]
    assert here.delete(f"{SESSIONS}/{other['id']}").status_code == 204
    assert elsewhere.get("/api/v1/session").status_code == 401
    assert here.get("/api/v1/session").status_code == 200
    assert here.delete(f"{SESSIONS}/{other['id']}").status_code == 404


def test_nobody_ends_the_session_of_somebody_else(here: httpx.Client, admin: httpx.Client) -> None:
    [session] = sessions_of(here)
    assert admin.delete(f"{SESSIONS}/{session['id']}").status_code == 404
    assert here.get("/api/v1/session").status_code == 200


def test_all_others_are_ended_and_that_is_in_the_audit_log(
    here: httpx.Client, elsewhere: httpx.Client, admin: httpx.Client, username: str
) -> None:
    assert here.delete(SESSIONS).status_code == 204
    assert [session["current"] for session in sessions_of(here)] == [True]
    assert elsewhere.get("/api/v1/session").status_code == 401
    assert admin.get("/api/v1/session").status_code == 200
    [entry] = admin.get("/api/v1/audit", params={"action": "session.end", "actor": username}).json()["items"]
    assert entry["detail"] == {"which": "all others"}


def test_ending_sessions_needs_the_csrf_token(here: httpx.Client) -> None:
    assert here.delete(SESSIONS, headers={"X-CSRF-Token": "guessed"}).json()["code"] == "csrf_mismatch"


def test_the_last_use_is_noted(backend: Any, here: httpx.Client, username: str) -> None:
    move = """
        UPDATE user_session SET created_at = now() - interval '1 hour', last_used_at = NULL
        WHERE user_id = (SELECT id FROM user_account WHERE username = %s)
    """
    with backend.connect() as connection:
        connection.execute(move, [username])
    here.get("/api/v1/session")
    [session] = sessions_of(here)
    assert session["last_used_at"] > session["created_at"]
