"""A second factor of a local account: turned on, asked for, used once, lost."""

import base64
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import uuid4

import httpx
import pytest
from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.twofactor.hotp import HOTP
from typer.testing import CliRunner

from wallwatch_backend.accounts.second_factor import codes
from wallwatch_backend.cli.user import app as user_app

PASSWORD = "another long password"
FACTOR = "/api/v1/session/second-factor"


@pytest.fixture(scope="module")
def backend_settings() -> dict[str, object]:
    return {"sign_in_failures_per_account": 4, "sign_in_failures_per_address": 10_000, "sign_in_slow_after": 10_000}


def code_of(secret: bytes, steps_from_now: int = 0) -> str:
    return HOTP(secret, 6, SHA1()).generate(int(time.time() // codes.STEP_S) + steps_from_now).decode()


class Person:
    """A local account and one browser."""

    def __init__(self, backend: Any, client: httpx.Client, username: str) -> None:
        self.client, self.username = client, username
        self._backend = backend

    def sign_in(self, code: str | None = None, client: httpx.Client | None = None) -> httpx.Response:
        body = {"username": self.username, "password": PASSWORD, "code": code}
        return (client or self.client).post("/api/v1/session", json=body)

    def go_back_in_time(self) -> None:
        """As if the last code had been used long ago: tests do not wait for the next one."""
        with self._backend.connect() as connection:
            connection.execute("UPDATE user_account SET totp_step = 0 WHERE username = %s", [self.username])

    def turn_on(self) -> tuple[bytes, list[str]]:
        started = self.client.post(FACTOR, json={"current_password": PASSWORD})
        assert started.status_code == 200, started.text
        text = started.json()["secret"]
        assert f"secret={text}" in started.json()["uri"]
        secret = base64.b32decode(text)
        confirmed = self.client.post(f"{FACTOR}/confirm", json={"code": code_of(secret)})
        assert confirmed.status_code == 200, confirmed.text
        self.go_back_in_time()
        return secret, confirmed.json()["recovery_codes"]


@pytest.fixture
def person(backend: Any, admin: httpx.Client) -> Iterator[Person]:
    username = f"user-{uuid4().hex[:8]}"
    assert admin.post("/api/v1/users", json={"username": username, "password": PASSWORD, "role": "viewer"}).status_code == 201
    with backend.client() as client:
        person = Person(backend, client, username)
        client.headers["X-CSRF-Token"] = person.sign_in().json()["csrf_token"]
        yield person


def test_signing_in_needs_password_and_code_and_each_code_counts_once(backend: Any, person: Person) -> None:
    secret, _ = person.turn_on()
    with backend.client() as client:
        missing = person.sign_in(client=client)
        assert (missing.status_code, missing.json()["code"]) == (401, "second_factor_required")
        assert "set-cookie" not in missing.headers
        code = code_of(secret)
        assert person.sign_in(code, client).status_code == 201
        again = person.sign_in(code, client)
        assert (again.status_code, again.json()["code"]) == (401, "wrong_code")
        assert "set-cookie" not in again.headers


def test_an_earlier_code_is_refused_after_a_later_one(person: Person) -> None:
    secret, _ = person.turn_on()
    assert person.sign_in(code_of(secret, 1)).status_code == 201
    assert person.sign_in(code_of(secret, 0)).status_code == 401


def test_of_simultaneous_sign_ins_with_one_code_one_succeeds(backend: Any, person: Person) -> None:
    secret, _ = person.turn_on()
    code = code_of(secret, 1)

    def one(_: int) -> int:
        with backend.client() as client:
            return person.sign_in(code, client).status_code

    with ThreadPoolExecutor(3) as threads:
        assert sorted(threads.map(one, range(3))) == [201, 401, 401]


def test_a_code_without_the_password_says_nothing_about_the_code(backend: Any, person: Person) -> None:
    secret, _ = person.turn_on()
    with backend.client() as client:
        body = {"username": person.username, "password": "a wrong password", "code": code_of(secret)}
        assert client.post("/api/v1/session", json=body).json()["code"] == "bad_credentials"
        assert person.sign_in(code_of(secret), client).status_code == 201, "the code was used up by a wrong password"


def test_guessing_codes_is_limited_as_guessing_passwords_is(person: Person) -> None:
    secret, _ = person.turn_on()
    assert [person.sign_in("abc123").status_code for _ in range(4)] == [401] * 4
    refused = person.sign_in(code_of(secret))
    assert (refused.status_code, refused.json()["code"]) == (429, "too_many_attempts")


def test_asking_for_the_code_uses_up_no_attempt(person: Person) -> None:
    secret, _ = person.turn_on()
    assert [person.sign_in().json()["code"] for _ in range(5)] == ["second_factor_required"] * 5
    assert person.sign_in(code_of(secret)).status_code == 201


def test_a_recovery_code_signs_in_once_however_it_is_typed(backend: Any, person: Person) -> None:
    _, recovery_codes = person.turn_on()
    assert len(set(recovery_codes)) == 10
    with backend.client() as client:
        assert person.sign_in(recovery_codes[3].upper().replace("-", " "), client).status_code == 201
        assert person.sign_in(recovery_codes[3], client).json()["code"] == "wrong_code"
    assert person.client.get("/api/v1/session/account").json()["recovery_codes_left"] == 9


def test_neither_secret_nor_recovery_codes_can_be_read_in_the_database(backend: Any, person: Person) -> None:
    secret, recovery_codes = person.turn_on()
    with backend.connect() as connection:
        query = "SELECT u.id, u.totp_secret FROM user_account u WHERE username = %s"
        user_id, stored = connection.execute(query, [person.username]).fetchone()
        hashes = connection.execute("SELECT code_hash FROM recovery_code WHERE user_id = %s", [user_id]).fetchall()
    readable = [secret, secret.hex().encode(), codes.secret_text(secret).encode()]
    assert not any(form in bytes(stored) for form in readable)
    assert {len(bytes(row[0])) for row in hashes} == {32}
    assert len(hashes) == len(recovery_codes)


def test_turning_it_on_needs_the_password_and_a_right_code_and_ends_other_sessions(backend: Any, person: Person) -> None:
    with backend.client() as elsewhere:
        assert person.sign_in(client=elsewhere).status_code == 201
        wrong = person.client.post(FACTOR, json={"current_password": "a wrong password"})
        assert (wrong.status_code, wrong.json()["code"]) == (403, "wrong_password")
        early = person.client.post(f"{FACTOR}/confirm", json={"code": "123456"})
        assert (early.status_code, early.json()["code"]) == (409, "second_factor_off")
        secret = base64.b32decode(person.client.post(FACTOR, json={"current_password": PASSWORD}).json()["secret"])
        bad = person.client.post(f"{FACTOR}/confirm", json={"code": code_of(secret, 100)})
        assert (bad.status_code, bad.json()["code"]) == (403, "wrong_code")
        assert elsewhere.get("/api/v1/session").status_code == 200
        assert person.sign_in(client=elsewhere).status_code == 201, "what was not confirmed must not lock anybody out"
        assert person.client.post(f"{FACTOR}/confirm", json={"code": code_of(secret)}).status_code == 200
        assert elsewhere.get("/api/v1/session").status_code == 401
    assert person.client.post(FACTOR, json={"current_password": PASSWORD}).json()["code"] == "second_factor_on"
    account = person.client.get("/api/v1/session/account").json()
    assert account["second_factor_since"] is not None


def test_turning_it_off_needs_password_and_code(person: Person) -> None:
    secret, _ = person.turn_on()
    body = {"current_password": PASSWORD, "code": "abc123"}
    assert person.client.post(f"{FACTOR}/disable", json=body).json()["code"] == "wrong_code"
    assert person.client.post(f"{FACTOR}/disable", json=body | {"current_password": "x" * 12}).json()["code"] == "wrong_password"
    assert person.client.post(f"{FACTOR}/disable", json=body | {"code": code_of(secret)}).status_code == 204
    assert person.sign_in().status_code == 201


def test_an_administrator_turns_off_what_somebody_lost(admin: httpx.Client, operator: httpx.Client, person: Person) -> None:
    person.turn_on()
    users = admin.get("/api/v1/users", params={"limit": 500}).json()["items"]
    [user] = [user for user in users if user["username"] == person.username]
    assert user["second_factor"] is True
    assert operator.delete(f"/api/v1/users/{user['id']}/second-factor").status_code == 403
    assert admin.delete(f"/api/v1/users/{user['id']}/second-factor").status_code == 204
    assert person.sign_in().status_code == 201
    entries = admin.get("/api/v1/audit", params={"action": "user.reset_second_factor"}).json()["items"]
    assert entries[0]["target"] == person.username


def test_the_command_line_turns_off_what_the_last_administrator_lost(backend: Any, person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WALLWATCH_DATABASE_URL", backend.database_url)
    person.turn_on()
    result = CliRunner().invoke(user_app, ["reset-second-factor", person.username])
    assert (result.exit_code, result.stdout) == (0, f"{person.username} signs in with the password alone.\n")
    assert person.sign_in().status_code == 201
    again = CliRunner().invoke(user_app, ["reset-second-factor", person.username])
    assert again.stdout == f"{person.username} had no second factor.\n"
    assert CliRunner().invoke(user_app, ["reset-second-factor", "nobody-of-that-name"]).exit_code == 1


def test_a_secret_that_the_server_cannot_decrypt_leaves_the_recovery_codes(backend: Any, person: Person) -> None:
    secret, recovery_codes = person.turn_on()
    with backend.connect() as connection:
        connection.execute("UPDATE user_account SET totp_secret = 'of another key' WHERE username = %s", [person.username])
    assert person.sign_in(code_of(secret)).json()["code"] == "wrong_code"
    assert person.sign_in(recovery_codes[0]).status_code == 201


def test_what_was_done_is_in_the_audit_log_without_any_secret(admin: httpx.Client, person: Person) -> None:
    secret, recovery_codes = person.turn_on()
    person.sign_in(recovery_codes[0])
    items = admin.get("/api/v1/audit", params={"actor": person.username}).json()["items"]
    assert {"session.second_factor_start", "session.second_factor_on"} <= {item["action"] for item in items}
    assert items[0]["detail"]["second_factor"] == "recovery_code"
    assert codes.secret_text(secret) not in str(items)
    assert not any(code in str(items) for code in recovery_codes)


@pytest.mark.parametrize("code", ["", "12345", "1234567", "１２３４５６", "-12345", "12 34"])
def test_what_is_no_code_matches_none(code: str) -> None:
    assert codes.matching_step(b"x" * 20, code, 1_000_000_000) is None


@pytest.mark.parametrize(("apart", "accepted"), [(-2, False), (-1, True), (0, True), (1, True), (2, False)])
def test_a_code_counts_for_a_step_before_and_after(apart: int, accepted: bool) -> None:
    now, secret = 1_700_000_010.0, b"12345678901234567890"
    step = int(now // codes.STEP_S) + apart
    code = HOTP(secret, 6, SHA1()).generate(step).decode()
    assert codes.matching_step(secret, code, now) == (step if accepted else None)
