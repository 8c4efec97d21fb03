"""E-mail, through a real mail server (aiosmtpd) with STARTTLS and a password."""

import ssl
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult, Envelope, LoginPassword, Session
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from wallwatch_backend.notify.deliveries.mailer import Mailer
from wallwatch_backend.notify.formats import mail
from wallwatch_backend.notify.formats.notification import Notification
from wallwatch_backend.notify.webhooks import mail_addresses
from wallwatch_backend.notify.webhooks.errors import BadUrl
from wallwatch_backend.settings import Settings
from wallwatch_local.ports import free_ports

AT = datetime(2026, 11, 21, 12, tzinfo=UTC)
BODY = '{"subject": "Opened: S1 on host01", "text": "Live flows leave the RNIC – again.", "thread": "incident=1"}'
USER, PASSWORD = "wallwatch", "a password"


@dataclass
class Mailbox:
    """What the server accepted. It refuses one recipient."""

    port: int
    messages: list[tuple[list[str], EmailMessage, bool]] = field(default_factory=list)
    refused: str = ""

    async def handle_RCPT(self, server: Any, session: Session, envelope: Envelope, address: str, options: Any) -> str:
        if self.refused and self.refused in address:
            return "550 no such user here"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: Any, session: Session, envelope: Envelope) -> str:
        message = message_from_bytes(envelope.content or b"", policy=policy.default)
        assert isinstance(message, EmailMessage)
        self.messages.append((list(envelope.rcpt_tos), message, session.ssl is not None))
        return "250 accepted"


def signed_in(server: Any, session: Any, envelope: Any, mechanism: str, data: Any) -> AuthResult:
    right = isinstance(data, LoginPassword) and (data.login, data.password) == (USER.encode(), PASSWORD.encode())
    return AuthResult(success=right, handled=right)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for localhost, and its key, in one file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    path = tmp_path_factory.mktemp("mail") / "localhost.pem"
    private = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    path.write_bytes(made.public_bytes(serialization.Encoding.PEM) + private)
    return path


def serve(mailbox: Mailbox, **options: Any) -> Controller:
    controller = Controller(mailbox, hostname="127.0.0.1", port=mailbox.port, ready_timeout=60, **options)
    controller.start()
    return controller


@pytest.fixture
def secure(certificate: Path) -> Iterator[Mailbox]:
    """A server that takes mail only after STARTTLS and a sign-in."""
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate)
    mailbox = Mailbox(free_ports(1)[0])
    controller = serve(mailbox, tls_context=tls, require_starttls=True, authenticator=signed_in, auth_required=True)
    yield mailbox
    controller.stop()


def settings(mailbox: Mailbox, **more: Any) -> Settings:
    given: dict[str, Any] = {"smtp_host": "localhost", "smtp_port": mailbox.port, "smtp_from": "Wallwatch <wallwatch@example.org>"}
    return Settings(**given | {"smtp_username": USER, "smtp_password": PASSWORD, "webhook_timeout_s": 30} | more)


def mailer(mailbox: Mailbox, certificate: Path, **more: Any) -> Mailer:
    return Mailer(settings(mailbox, **more), ssl.create_default_context(cafile=certificate))


async def test_a_message_arrives_encrypted_with_what_mail_programs_need(secure: Mailbox, certificate: Path) -> None:
    outcome = await mailer(secure, certificate).send("mailto:ann@example.org,on%2Bcall@example.org", BODY, UUID(int=3), AT)
    assert outcome.error is None
    [(recipients, message, encrypted)] = secure.messages
    assert encrypted
    assert recipients == ["ann@example.org", "on+call@example.org"]
    assert (message["Subject"], message["From"]) == ("Opened: S1 on host01", "Wallwatch <wallwatch@example.org>")
    assert message["Message-ID"] == f"<{UUID(int=3)}@example.org>"
    assert message["Auto-Submitted"] == "auto-generated"
    assert message.get_content().strip() == "Live flows leave the RNIC – again."


async def test_messages_of_one_incident_are_a_thread(secure: Mailbox, certificate: Path) -> None:
    sender = mailer(secure, certificate)
    for number in (1, 2):
        await sender.send("mailto:ann@example.org", BODY, UUID(int=number), AT)
    await sender.send("mailto:ann@example.org", BODY.replace("incident=1", "incident=2"), UUID(int=3), AT)
    first, second, other = [message["References"] for _, message, _ in secure.messages]
    assert first == second != other


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"smtp_password": "wrong"}, "535"),
        ({"smtp_username": None}, "530"),
        ({"smtp_security": "none", "smtp_username": None}, "530"),
        ({"smtp_host": None}, "WALLWATCH_SMTP_HOST"),
    ],
)
async def test_a_server_that_refuses_is_an_outcome_with_its_reason(
    secure: Mailbox, certificate: Path, more: dict[str, Any], reason: str
) -> None:
    outcome = await mailer(secure, certificate, **more).send("mailto:ann@example.org", BODY, UUID(int=3), AT)
    assert reason in str(outcome.error)
    assert not outcome.refused, "the message waits until the settings are right"
    assert PASSWORD not in str(outcome.error)
    assert secure.messages == []


async def test_a_certificate_that_nobody_vouches_for_is_refused(secure: Mailbox) -> None:
    outcome = await Mailer(settings(secure)).send("mailto:ann@example.org", BODY, UUID(int=3), AT)
    assert "certificate verify failed" in str(outcome.error).lower()
    assert secure.messages == []


async def test_one_refused_recipient_does_not_keep_the_others_from_it_and_all_are_a_failure(secure: Mailbox, certificate: Path) -> None:
    secure.refused = "gone@"
    sender = mailer(secure, certificate)
    assert (await sender.send("mailto:gone@example.org,ann@example.org", BODY, UUID(int=3), AT)).delivered
    assert [recipients for recipients, _, _ in secure.messages] == [["ann@example.org"]]
    outcome = await sender.send("mailto:gone@example.org", BODY, UUID(int=4), AT)
    assert outcome.error == "the mail server refused all recipients: 550 no such user here"
    assert outcome.refused


def incident(**more: Any) -> dict[str, Any]:
    return {"id": str(UUID(int=1)), "host": "host01", "pci": "0000:3b:00.0", "scope": "rnic", "symptom": "S1", "state": "open", **more}


async def test_what_comes_from_a_host_cannot_become_a_header(secure: Mailbox, certificate: Path) -> None:
    title = "Re-offloading\r\nBcc: eve@example.net"
    values: dict[str, Any] = {"receiver": "mail", "webhook_id": UUID(int=7), "group_labels": {}, "grouped": False}
    body = mail.notification_body(Notification(event="incident.opened", at=AT, incidents=[incident(title=title)], **values))
    assert (await mailer(secure, certificate).send("mailto:ann@example.org", body, UUID(int=3), AT)).delivered
    [(recipients, message, _)] = secure.messages
    assert (recipients, message["Bcc"]) == (["ann@example.org"], None)
    assert message["Subject"] == "Opened: S1 Re-offloading Bcc: eve@example.net on host01 0000:3b:00.0"


@pytest.mark.parametrize(
    "url",
    [
        "mailto:",
        "mailto:ann",
        "mailto:ann@example.org%0D%0ABcc:eve@example.net",
        "mailto:ann@example.org?cc=eve@example.net",
        "mailto:" + ",".join(f"a{n}@example.org" for n in range(51)),
        "https://example.org/",
    ],
)
def test_what_names_no_recipients_is_refused(url: str) -> None:
    with pytest.raises(BadUrl):
        mail_addresses.recipients(url)


@pytest.fixture(scope="module")
def plain() -> Iterator[Mailbox]:
    mailbox = Mailbox(free_ports(1)[0])
    controller = serve(mailbox)
    yield mailbox
    controller.stop()


@pytest.fixture(scope="module")
def backend_settings(plain: Mailbox) -> dict[str, object]:
    server = {"smtp_host": "127.0.0.1", "smtp_port": plain.port, "smtp_security": "none", "smtp_from": "wallwatch@example.org"}
    return {"incident_hold_s": 0, "webhook_retry_base_s": 0.2, **server}


def test_an_incident_is_mailed_from_its_opening_to_its_end(
    admin: httpx.Client, viewer: httpx.Client, plain: Mailbox, findings: Any, eventually: Any
) -> None:
    host, at = f"mail-{uuid4().hex[:6]}", datetime.now(UTC) - timedelta(seconds=120)
    body = {"name": f"mail-{host}", "format": "email", "url": "mailto:ann@example.org", "events": ["incident.opened", "incident.resolved"]}
    made = admin.post("/api/v1/webhooks", json={**body, "matchers": [{"name": "host", "op": "=", "value": host}]})
    assert made.status_code == 201, made.text
    findings.send(findings.finding(host=host, started=at))
    findings.send(findings.finding(host=host, started=at, after_s=60, state="cleared"))

    def subjects() -> list[str]:
        return [str(message["Subject"]) for _, message, _ in plain.messages if host in str(message["Subject"])]

    eventually(lambda: len(subjects()) == 2)
    assert [subject.split(":")[0].strip() for subject in subjects()] == ["Opened", "Resolved"]
    [shown] = [each for each in viewer.get("/api/v1/webhooks").json()["items"] if each["id"] == made.json()["id"]]
    assert shown["url"] == "mailto:…@example.org"
    admin.delete(f"/api/v1/webhooks/{made.json()['id']}")


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"format": "email", "url": "https://example.org/"}, "bad_url"),
        ({"format": "native", "url": "mailto:ann@example.org"}, "bad_url"),
        ({"format": "email", "url": "mailto:ann@"}, "bad_url"),
    ],
)
def test_recipients_go_with_the_format_email_only(admin: httpx.Client, body: dict[str, str], code: str) -> None:
    answer = admin.post("/api/v1/webhooks", json={"name": "mail", **body})
    assert (answer.status_code, answer.json()["code"]) == (422, code)
