"""Users, tokens and the audit log."""

from contextlib import closing
from typing import Any

import httpx

ID = "00000000-0000-4000-8000-000000000000"
NEW_PASSWORD = "another long password"


def audit_of(admin: httpx.Client, action: str) -> list[dict[str, Any]]:
    return admin.get("/api/v1/audit", params={"action": action}).json()["items"]


def test_a_new_user_can_sign_in_until_disabled(admin: httpx.Client, backend: Any) -> None:
    made = admin.post("/api/v1/users", json={"username": "zoe", "password": NEW_PASSWORD, "role": "operator"})
    assert made.status_code == 201, made.text
    assert "password" not in made.text
    with backend.client() as zoe:
        assert zoe.post("/api/v1/session", json={"username": "zoe", "password": NEW_PASSWORD}).status_code == 201
        assert zoe.get("/api/v1/session").status_code == 200
        changed = admin.patch(f"/api/v1/users/{made.json()['id']}", json={"disabled": True})
        assert changed.json()["disabled"] is True
        assert zoe.get("/api/v1/session").status_code == 401
        assert zoe.post("/api/v1/session", json={"username": "zoe", "password": NEW_PASSWORD}).status_code == 401
    assert audit_of(admin, "user.create")[0]["target"] == "zoe"


def test_a_user_name_can_be_used_once(admin: httpx.Client) -> None:
    answer = admin.post("/api/v1/users", json={"username": "viewer", "password": NEW_PASSWORD, "role": "viewer"})
    assert answer.status_code == 409
    assert answer.json()["code"] == "name_taken"


def test_a_short_password_is_refused_without_being_repeated(admin: httpx.Client) -> None:
    answer = admin.post("/api/v1/users", json={"username": "short", "password": "geheim", "role": "viewer"})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["location"] == ["body", "password"]
    assert "geheim" not in answer.text


def test_the_last_administrator_stays(admin: httpx.Client) -> None:
    users = {user["username"]: user for user in admin.get("/api/v1/users").json()["items"]}
    for change in ({"role": "viewer"}, {"disabled": True}):
        answer = admin.patch(f"/api/v1/users/{users['admin']['id']}", json=change)
        assert answer.status_code == 409
        assert answer.json()["code"] == "last_admin"


def test_a_change_of_nobody_is_not_found(admin: httpx.Client) -> None:
    assert admin.patch(f"/api/v1/users/{ID}", json={"role": "viewer"}).status_code == 404


def test_users_come_in_pages(admin: httpx.Client) -> None:
    first = admin.get("/api/v1/users", params={"limit": 2}).json()
    second = admin.get("/api/v1/users", params={"limit": 2, "cursor": first["next_cursor"]}).json()
    names = [user["username"] for user in first["items"] + second["items"]]
    assert names[:3] == ["admin", "operator", "viewer"]


def test_an_invented_cursor_is_refused(admin: httpx.Client) -> None:
    for cursor in ("x", "%00", "WyJ4Il0", "eyJhIjoxfQ"):
        answer = admin.get("/api/v1/tokens", params={"cursor": cursor})
        assert answer.status_code == 422, cursor
        assert answer.json()["code"] == "bad_cursor"


def test_a_token_works_with_its_role_until_it_is_deleted(admin: httpx.Client, backend: Any) -> None:
    made = admin.post("/api/v1/tokens", json={"name": "ci", "role": "viewer"}).json()
    assert made["token"].startswith("ww_")
    assert made["token"].startswith(made["prefix"])
    with backend.client(headers={"Authorization": f"Bearer {made['token']}"}) as robot:
        me = robot.get("/api/v1/session").json()
        assert me == {"user": {"username": "token:ci", "role": "viewer"}, "csrf_token": None}
        assert robot.post("/api/v1/webhooks", json={"name": "x", "url": "http://127.0.0.1:9/"}).status_code == 403
        listed = admin.get("/api/v1/tokens").json()["items"][0]
        assert listed["name"] == "ci"
        assert listed["last_used_at"] is not None
        assert "token" not in listed
        assert admin.delete(f"/api/v1/tokens/{made['id']}").status_code == 204
        assert robot.get("/api/v1/session").status_code == 401
    assert [entry["action"] for entry in audit_of(admin, "token.")][:2] == ["token.delete", "token.create"]


def test_an_expired_token_is_no_way_in(admin: httpx.Client, backend: Any) -> None:
    made = admin.post("/api/v1/tokens", json={"name": "old", "role": "admin", "ttl_days": 1}).json()
    with backend.connect() as connection:
        connection.execute("UPDATE api_token SET expires_at = now() - interval '1 second' WHERE id = %s", [made["id"]])
    with backend.client(headers={"Authorization": f"Bearer {made['token']}"}) as robot:
        assert robot.get("/api/v1/session").status_code == 401


def test_the_database_holds_no_secret_in_the_clear(admin: httpx.Client, backend: Any) -> None:
    made = admin.post("/api/v1/tokens", json={"name": "hashed", "role": "viewer"}).json()
    with backend.connect() as connection:
        row = connection.execute("SELECT to_jsonb(t)::text FROM api_token t WHERE id = %s", [made["id"]]).fetchone()
        sessions = connection.execute("SELECT string_agg(to_jsonb(s)::text, '') FROM user_session s").fetchone()
    assert made["token"] not in str(row)
    assert admin.cookies["wallwatch_session"] not in str(sessions)


def test_good_and_bad_sign_ins_are_in_the_audit_log(admin: httpx.Client, backend: Any) -> None:
    with backend.client() as client:
        client.post("/api/v1/session", json={"username": "Viewer", "password": "wrong password"})
        client.post("/api/v1/session", json={"username": "viewer", "password": backend.password})
    latest = admin.get("/api/v1/audit", params={"action": "session.sign_in", "actor": "viewer"}).json()["items"][:2]
    assert [(entry["outcome"], entry["address"]) for entry in latest] == [("ok", "127.0.0.1"), ("refused", "127.0.0.1")]
    assert "wrong password" not in str(latest)


def test_the_audit_log_comes_in_pages_newest_first(admin: httpx.Client) -> None:
    first = admin.get("/api/v1/audit", params={"limit": 3}).json()
    second = admin.get("/api/v1/audit", params={"limit": 3, "cursor": first["next_cursor"]}).json()
    ids = [entry["id"] for entry in first["items"] + second["items"]]
    assert ids == sorted(ids, reverse=True)
    assert len(set(ids)) == 6


def test_guessing_is_slowed_down_for_that_account_from_that_address_only(backend: Any, admin: httpx.Client) -> None:
    admin.post("/api/v1/users", json={"username": "victim", "password": NEW_PASSWORD, "role": "viewer"})
    with backend.client() as client:
        answers = [client.post("/api/v1/session", json={"username": "victim", "password": "guess guess"}) for _ in range(6)]
        assert [answer.status_code for answer in answers] == [401] * 5 + [429]
        assert answers[-1].json()["code"] == "too_many_attempts"
        assert int(answers[-1].headers["retry-after"]) > 0
        assert client.post("/api/v1/session", json={"username": "victim", "password": NEW_PASSWORD}).status_code == 429
        assert client.post("/api/v1/session", json={"username": "viewer", "password": backend.password}).status_code == 201


def test_signing_out_ends_the_session_on_the_server(backend: Any) -> None:
    with closing(backend.signed_in("viewer")) as client:
        cookie = client.cookies["wallwatch_session"]
        assert client.delete("/api/v1/session").status_code == 204
    with backend.client(cookies={"wallwatch_session": cookie}) as thief:
        assert thief.get("/api/v1/session").status_code == 401
