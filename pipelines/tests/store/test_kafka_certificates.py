"""Certificates of the broker: made once, renewed when they must be, and rotated without a client that trusts nobody."""

import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from wallwatch.store.kafka_authority import BROKER_FOR, RENEW_BEFORE, BadName
from wallwatch.store.kafka_certificates import CertificateProblem, KafkaCertificates

NOW = datetime.now(UTC)
NAMES = ["kafka", "localhost", "192.0.2.7"]


def files(certificates: KafkaCertificates) -> dict[str, bytes]:
    return {str(file.relative_to(certificates.folder)): file.read_bytes() for file in certificates.folder.rglob("*.*")}


def is_trusted(broker: KafkaCertificates, ca_file: Path, name: str) -> bool:
    """Whether a client that trusts a file believes that the broker has a name: a handshake in memory, by OpenSSL."""
    server_side, client_side = (
        ssl.create_default_context(ssl.Purpose.CLIENT_AUTH),
        ssl.create_default_context(cafile=str(ca_file)),
    )
    server_side.load_cert_chain(broker.broker / "tls.crt", broker.broker / "tls.key")
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    server = server_side.wrap_bio(to_server, to_client, server_side=True)
    client = client_side.wrap_bio(to_client, to_server, server_hostname=name)
    for _ in range(6):
        for side in (client, server):
            try:
                side.do_handshake()
            except ssl.SSLWantReadError:
                continue
            except ssl.SSLError:
                return False
    return True


@pytest.fixture
def certificates(tmp_path: Path) -> KafkaCertificates:
    made = KafkaCertificates(tmp_path / "kafka")
    made.ensure(NAMES, NOW)
    return made


@pytest.mark.parametrize(("name", "known"), [("kafka", True), ("localhost", True), ("192.0.2.7", True), ("kafka2", False)])
def test_clients_believe_the_broker_under_its_names_only(certificates: KafkaCertificates, name: str, known: bool) -> None:
    assert is_trusted(certificates, certificates.ca_file, name) is known


def test_keys_are_private_and_what_clients_trust_is_readable(certificates: KafkaCertificates) -> None:
    modes = {str(file.relative_to(certificates.folder)): file.stat().st_mode & 0o777 for file in certificates.folder.rglob("*.*")}
    assert modes.pop("public/ca.pem") == 0o644
    assert set(modes.values()) == {0o600}
    assert (certificates.folder / "authority").stat().st_mode & 0o077 == 0
    assert b"-----BEGIN PRIVATE KEY-----" in (certificates.broker / "tls.key").read_bytes()


def test_a_repetition_changes_nothing(certificates: KafkaCertificates) -> None:
    before = files(certificates)
    assert certificates.ensure(list(reversed(NAMES)), NOW + timedelta(days=1)).changes == ()
    assert files(certificates) == before


@pytest.mark.parametrize(
    ("names", "at", "reason"),
    [
        ([*NAMES, "wallwatch.example.net"], NOW, "the names changed"),
        (NAMES[:2], NOW, "the names changed"),
        (NAMES, NOW + BROKER_FOR - RENEW_BEFORE + timedelta(days=2), "it ends on"),
    ],
)
def test_the_certificate_is_renewed_by_the_same_authority(
    certificates: KafkaCertificates, names: list[str], at: datetime, reason: str
) -> None:
    before = files(certificates)
    [change] = certificates.ensure(names, at).changes
    assert reason in change
    after = files(certificates)
    assert {name for name in after if after[name] != before[name]} == {"broker/tls.crt", "broker/tls.key"}
    # The check of OpenSSL is by today's clock.
    assert is_trusted(certificates, certificates.ca_file, names[-1]) is (at == NOW)


@pytest.mark.parametrize("lost", ["broker/tls.key", "broker/tls.crt", "broker/ca.crt", "public/ca.pem", "authority/authority.key"])
def test_what_is_lost_is_made_again(certificates: KafkaCertificates, lost: str) -> None:
    (certificates.folder / lost).unlink()
    assert certificates.ensure(NAMES, NOW).changes
    assert is_trusted(certificates, certificates.ca_file, "kafka")


def test_a_damaged_certificate_is_made_again(certificates: KafkaCertificates) -> None:
    (certificates.broker / "tls.crt").write_bytes(b"nothing")
    assert "not one of the present authority" in certificates.ensure(NAMES, NOW).changes[0]
    assert is_trusted(certificates, certificates.ca_file, "kafka")


def test_while_an_authority_is_rotated_old_and_new_clients_are_served(certificates: KafkaCertificates, tmp_path: Path) -> None:
    old = tmp_path / "old.pem"
    old.write_bytes(certificates.ca_file.read_bytes())
    certificates.rotate(NOW)
    assert certificates.ensure(NAMES, NOW).changes == ()
    assert is_trusted(certificates, old, "kafka")
    assert is_trusted(certificates, certificates.ca_file, "kafka")
    both = tmp_path / "both.pem"
    both.write_bytes(certificates.ca_file.read_bytes())
    assert certificates.end_former(NOW, NAMES).changes
    assert is_trusted(certificates, both, "kafka")
    assert is_trusted(certificates, certificates.ca_file, "kafka")
    assert not is_trusted(certificates, old, "kafka")


def test_a_rotation_is_begun_once_and_ended_once(certificates: KafkaCertificates) -> None:
    with pytest.raises(CertificateProblem, match="no rotation is under way"):
        certificates.end_former(NOW, NAMES)
    certificates.rotate(NOW)
    with pytest.raises(CertificateProblem, match="a rotation is under way"):
        certificates.rotate(NOW)


@pytest.mark.parametrize("name", ["", "ka fka", "kafka,localhost", "kafka:9092", "käfka"])
def test_a_name_that_cannot_be_in_a_certificate_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadName, match="neither the name of a machine nor an address"):
        KafkaCertificates(tmp_path).ensure([name], NOW)


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(CertificateProblem, match="cannot be read or written"):
        KafkaCertificates(tmp_path / "file" / "kafka").ensure(NAMES, NOW)
