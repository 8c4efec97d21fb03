"""buildah: builds, keeps and mounts images without a container engine, in a store of this repository's own."""

import json
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from wallwatch_local.errors import LocalStackError
from wallwatch_local.paths import local_dir


@dataclass(frozen=True)
class Buildah:
    """The program with its store; needs root, and no daemon."""

    folder: Path

    @cached_property
    def _store(self) -> list[str]:
        # Where a test runs in a container, its file system may not take another overlay; vfs copies instead, and works everywhere.
        plain = ["buildah", "--root", str(self.folder / "store"), "--runroot", str(self.folder / "run")]
        for driver in ("overlay", "vfs"):
            command = [*plain, "--storage-driver", driver]
            done = subprocess.run([*command, "images"], capture_output=True, text=True, check=False)
            if done.returncode == 0:
                return command
        raise LocalStackError(f"buildah cannot keep images in {self.folder}: {done.stderr.strip()}")

    def answer(self, *arguments: str) -> str:
        """What a command prints.

        Raises
        ------
        LocalStackError
            When it fails; the message has what buildah says.
        """
        done = subprocess.run([*self._store, *arguments], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise LocalStackError(f"buildah {arguments[0]} failed: {done.stderr.strip()}")
        return done.stdout.strip()

    def has(self, image: str) -> bool:
        """Whether the store has the image."""
        return subprocess.run([*self._store, "inspect", "--type", "image", image], capture_output=True, check=False).returncode == 0

    def size(self, image: str) -> int:
        """Bytes of the image's files."""
        [found] = json.loads(self.answer("images", "--json", image))
        return bytes_of(found["size"])

    def configuration(self, image: str) -> dict[str, Any]:
        """What the image says of itself: `architecture` and `os`, and under `config` user, environment and folder."""
        found: dict[str, Any] = json.loads(self.answer("inspect", "--type", "image", image))["OCIv1"]
        return found

    def build(
        self,
        dockerfile: Path,
        context: Path,
        tag: str,
        arguments: Mapping[str, str],
        *,
        from_environment: Sequence[str] = (),
        options: Sequence[str] = (),
    ) -> None:
        """Build an image; buildah's own output goes to the terminal.

        Values of `from_environment` are read by buildah itself, so that no command line shows them.

        Raises
        ------
        LocalStackError
            When a step fails.
        """
        given = [f"--build-arg={name}={value}" for name, value in arguments.items()] + [f"--build-arg={name}" for name in from_environment]
        # Without a namespace of users, as in a container of CI; `chroot` runs each step with the network of the machine.
        command = [*self._store, "build", "--isolation", "chroot", "--tag", tag, "--file", str(dockerfile), *given, *options, str(context)]
        if subprocess.run(command, check=False).returncode != 0:
            raise LocalStackError(f"{dockerfile.name}: a step failed, see above")

    def list_together(self, name: str, images: Sequence[str]) -> None:
        """Make a list of images for several kinds of machines, in place of an earlier one of that name."""
        if self.has_list(name):
            self.answer("manifest", "rm", name)
        self.answer("manifest", "create", name)
        for image in images:
            # What it builds without the name of a registry, buildah keeps under this one.
            self.answer("manifest", "add", name, f"containers-storage:localhost/{image}")

    def has_list(self, name: str) -> bool:
        """Whether the store has such a list."""
        return subprocess.run([*self._store, "manifest", "exists", name], capture_output=True, check=False).returncode == 0

    @contextmanager
    def mounted(self, image: str) -> Iterator[Path]:
        """The image's root as a folder, with a writable layer that goes with it."""
        container = self.answer("from", "--pull-never", image)
        try:
            yield Path(self.answer("mount", container))
        finally:
            self.answer("rm", container)


def bytes_of(text: str) -> int:
    """A size as buildah prints it.

    >>> bytes_of("1.91 GB"), bytes_of("318 MB")
    (1910000000, 318000000)
    """
    number, unit = text.split()
    return round(float(number) * {"B": 1, "KB": 1e3, "MB": 1e6, "GB": 1e9}[unit.upper()])


def own() -> Buildah:
    """The store of this repository."""
    return Buildah(local_dir() / "images")
