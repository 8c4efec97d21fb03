"""Where uploaded captures lie until they are analysed; what a process that died left there is deleted later."""

import asyncio
import hashlib
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO
from uuid import UUID

from starlette.requests import ClientDisconnect

from wallwatch_backend.captures.errors import CaptureTooLarge, NotACapture, UploadBrokeOff

_MAGICS = (b"\xd4\xc3\xb2\xa1", b"\xa1\xb2\xc3\xd4", b"\x4d\x3c\xb2\xa1", b"\xa1\xb2\x3c\x4d", b"\x0a\x0d\x0d\x0a", b"\x1f\x8b")
_WRITE_AT_ONCE = 1 << 20
_ABANDONED_AFTER_S = 6 * 3600


@dataclass(frozen=True)
class Stored:
    path: Path
    size_bytes: int
    sha256: str


class CaptureFiles:
    """Files by the id of their capture."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def remove_abandoned(self) -> None:
        """Delete what a process that died left. Replicas on one machine may share the folder, so younger files stay."""
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        for path in self._folder.glob("*.capture"):
            if time.time() - path.stat().st_mtime > _ABANDONED_AFTER_S:
                path.unlink(missing_ok=True)

    def path(self, capture_id: UUID) -> Path:
        return self._folder / f"{capture_id}.capture"

    def remove(self, capture_id: UUID) -> None:
        self.path(capture_id).unlink(missing_ok=True)

    async def store(self, capture_id: UUID, chunks: AsyncIterator[bytes], max_bytes: int) -> Stored:
        """Write a body as it arrives; nothing stays behind when it is refused or breaks off.

        Raises
        ------
        NotACapture
            The first bytes are no capture's: refused before the rest is sent.
        CaptureTooLarge
            More than `max_bytes` came.
        UploadBrokeOff
            The client went away.
        """
        path = self.path(capture_id)
        try:
            return await self._write(path, chunks, max_bytes)
        except BaseException as error:
            path.unlink(missing_ok=True)
            if isinstance(error, ClientDisconnect):
                raise UploadBrokeOff from error
            raise

    async def _write(self, path: Path, chunks: AsyncIterator[bytes], max_bytes: int) -> Stored:
        digest, size, waiting, begun = hashlib.sha256(), 0, bytearray(), False
        await asyncio.to_thread(self._folder.mkdir, parents=True, exist_ok=True, mode=0o700)
        with path.open("xb") as file:
            async for chunk in chunks:
                size += len(chunk)
                if size > max_bytes:
                    raise CaptureTooLarge(f"At most {max_bytes >> 20} MB are accepted: compress the capture, or cut it into pieces.")
                waiting += chunk
                if not begun and len(waiting) >= 4:
                    begun = True
                    _check_beginning(bytes(waiting[:4]))
                if len(waiting) >= _WRITE_AT_ONCE:
                    block, waiting = bytes(waiting), bytearray()
                    await asyncio.to_thread(_append, file, digest, block)
            if not begun:
                raise NotACapture("The file has fewer than four bytes.")
            await asyncio.to_thread(_append, file, digest, bytes(waiting))
        return Stored(path, size, digest.hexdigest())


def _append(file: BinaryIO, digest: "hashlib._Hash", block: bytes) -> None:
    digest.update(block)
    file.write(block)


def _check_beginning(head: bytes) -> None:
    if not head.startswith(_MAGICS):
        raise NotACapture(f"It begins with {head.hex(' ')}; expected pcap or pcapng, gzipped or not.")
