"""The certificates of a broker of our own, in three folders, because three readers must not see each other's files.

`authority/` has the keys that sign, and only `wallwatch kafka` reads it. `broker/` is the broker's: `tls.key`, `tls.crt`, `ca.crt`, the
names of a Secret of the type kubernetes.io/tls. `public/ca.pem` is for every client. A rotation has two steps: clients trust the next
authority as well first, and the broker's certificate changes when all of them do.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from fcntl import LOCK_EX, flock
from pathlib import Path

from wallwatch.store.kafka_authority import Pair, broker_certificate, end_of, new_authority, reason_to_renew


class CertificateProblem(ValueError):
    """Certificates that cannot be made or read, with what to do."""


@dataclass(frozen=True)
class Outcome:
    """What was done, and how long the broker's certificate lasts."""

    changes: tuple[str, ...]
    broker_until: datetime


@dataclass(frozen=True)
class KafkaCertificates:
    """The files of one broker below a folder."""

    folder: Path

    @property
    def broker(self) -> Path:
        return self.folder / "broker"

    @property
    def ca_file(self) -> Path:
        """What clients trust; during a rotation both authorities."""
        return self.folder / "public" / "ca.pem"

    def ensure(self, names: Sequence[str], at: datetime) -> Outcome:
        """Create what is missing, and renew the broker's certificate when its names changed or it ends soon.

        Raises
        ------
        BadName
            When a name cannot be in a certificate.
        CertificateProblem
            When a file cannot be read or written.
        """
        with self._locked():
            return self._ensure(names, at)

    def rotate(self, at: datetime) -> None:
        """Create the next authority. Clients trust both from their next start; the broker keeps its certificate until `end_former`."""
        with self._locked():
            if self._read("authority") is None:
                raise CertificateProblem(f"{self.folder} has no authority yet: run `wallwatch kafka certificates` first")
            if self._read("next") is not None:
                raise CertificateProblem(
                    "a rotation is under way: give ca.pem to all clients, then run `wallwatch kafka end-former-authority`"
                )
            self._keep("next", new_authority(at))
            self._publish()

    def end_former(self, at: datetime, names: Sequence[str]) -> Outcome:
        """Sign the broker's certificate by the next authority, and trust the former no longer."""
        with self._locked():
            following = self._read("next")
            if following is None:
                raise CertificateProblem("no rotation is under way: begin one with `wallwatch kafka rotate-authority`")
            self._keep("authority", following)
            for file in self._files("next"):
                file.unlink(missing_ok=True)
            return self._ensure(names, at)

    def _ensure(self, names: Sequence[str], at: datetime) -> Outcome:
        changes = []
        authority = self._read("authority")
        if authority is None:
            authority = new_authority(at)
            self._keep("authority", authority)
            changes.append("created an authority")
        certificate, key = self.broker / "tls.crt", self.broker / "tls.key"
        reason = "it is missing"
        if certificate.exists() and key.exists():
            reason = reason_to_renew(certificate.read_bytes(), authority.certificate, names, at) or ""
        if reason:
            pair = broker_certificate(authority, names, at)
            # The key first: a broker that starts in between is refused by its own check of the pair, and starts again.
            _write(key, pair.private_key, 0o600)
            _write(certificate, pair.certificate, 0o600)
            changes.append(f"made a certificate for the broker, because {reason}")
        if self._publish():
            changes.append(f"wrote {self.ca_file} for the clients")
        return Outcome(tuple(changes), end_of(certificate.read_bytes()))

    def _publish(self) -> bool:
        pairs = [pair for name in ("authority", "next") if (pair := self._read(name)) is not None]
        trusted = b"".join(pair.certificate for pair in pairs)
        changed = [_write_changed(self.broker / "ca.crt", trusted, 0o600), _write_changed(self.ca_file, trusted, 0o644)]
        return any(changed)

    def _files(self, name: str) -> tuple[Path, Path]:
        return self.folder / "authority" / f"{name}.crt", self.folder / "authority" / f"{name}.key"

    def _read(self, name: str) -> Pair | None:
        certificate, key = self._files(name)
        if not certificate.exists() or not key.exists():
            return None
        return Pair(certificate.read_bytes(), key.read_bytes())

    def _keep(self, name: str, pair: Pair) -> None:
        certificate, key = self._files(name)
        # A crash in between leaves a key without its certificate, which does not count.
        certificate.unlink(missing_ok=True)
        _write(key, pair.private_key, 0o600)
        _write(certificate, pair.certificate, 0o600)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Two commands at a time would sign by different authorities."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            for name, mode in {"authority": 0o700, "broker": 0o700, "public": 0o755}.items():
                (self.folder / name).mkdir(exist_ok=True, mode=mode)
            with (self.folder / "authority" / "lock").open("a") as lock:
                flock(lock, LOCK_EX)
                yield
        except OSError as error:
            raise CertificateProblem(f"the certificates in {self.folder} cannot be read or written: {error}") from error


def _write_changed(file: Path, content: bytes, mode: int) -> bool:
    if file.exists() and file.read_bytes() == content:
        return False
    _write(file, content, mode)
    return True


def _write(file: Path, content: bytes, mode: int) -> None:
    new = file.with_name(file.name + ".new")
    new.unlink(missing_ok=True)
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as handle:
        os.fchmod(handle.fileno(), mode)  # the umask of a service may be stricter than what its readers need
        handle.write(content)
    new.replace(file)
