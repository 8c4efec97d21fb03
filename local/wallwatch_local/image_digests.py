"""`make image-digests`: are the digests with which images of others are pinned those that their registry gives for the tags?

An image without a digest that can be asked for counts as not checked, never as right.
"""

import re
import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from wallwatch_local.paths import REPOSITORY

WRONG, NOT_CHECKED = 1, 3
TIMEOUT_S = 60
PINNED = re.compile(r"([a-z0-9][\w./-]*:[\w.-]+)@(sha256:[0-9a-f]{64})")
DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
TOOLS: Mapping[str, tuple[str, ...]] = {
    "docker": ("docker", "buildx", "imagetools", "inspect", "--format", "{{.Manifest.Digest}}"),
    "crane": ("crane", "digest"),
}
"""Programs that ask a registry for the digest of a tag; the first that is installed is used."""

Ask = Callable[[str], str]
"""Gets name and tag; returns the registry's digest. Raises OSError, with a sentence, when there is none."""


@dataclass(frozen=True)
class Image:
    """An image of others, and the files that name it."""

    name: str
    digest: str
    files: tuple[str, ...]


@dataclass(frozen=True)
class Verdict:
    """What the registry says of an image: its digest, or why it could not be asked."""

    image: Image
    digest: str | None
    problem: str = ""

    @property
    def is_wrong(self) -> bool:
        return self.digest is not None and self.digest != self.image.digest

    def text(self) -> str:
        where = ", ".join(self.image.files)
        if self.digest is None:
            return f"{self.image.name}: NOT CHECKED. {self.problem} ({where})"
        if not self.is_wrong:
            return f"{self.image.name}: right ({where})"
        return (
            f"{self.image.name}: WRONG in {where}\n  pinned:   {self.image.digest}\n  registry: {self.digest}\n"
            "  The tag was moved, or the digest was never its own: find out which before you change it."
        )


def pinned(folder: Path = REPOSITORY) -> list[Image]:
    """Every image that Compose, the chart and the Dockerfiles pin, by name."""
    files = [folder / "docker-compose.yml", folder / "helm/wallwatch/values.yaml", *sorted((folder / "docker").glob("*.Dockerfile"))]
    found: dict[tuple[str, str], list[str]] = {}
    for file in files:
        for name, digest in dict.fromkeys(PINNED.findall(file.read_text(encoding="utf-8"))):
            found.setdefault((name, digest), []).append(str(file.relative_to(folder)))
    return [Image(name, digest, tuple(where)) for (name, digest), where in sorted(found.items())]


def registry() -> Ask:
    """Return a function that asks by an installed program."""
    tool = next((command for name, command in TOOLS.items() if shutil.which(name)), None)

    def ask(name: str) -> str:
        if tool is None:
            raise OSError(f"None of these programs is installed: {', '.join(TOOLS)}.")
        try:
            done = subprocess.run([*tool, name], capture_output=True, text=True, check=False, timeout=TIMEOUT_S)
        except subprocess.TimeoutExpired:
            raise OSError(f"{tool[0]} had no answer after {TIMEOUT_S} s.") from None
        found = DIGEST.search(done.stdout)
        if done.returncode != 0 or found is None:
            said = (done.stderr or done.stdout).strip().splitlines()
            raise OSError(f"{tool[0]} says: {said[-1] if said else 'nothing'}")
        return found[0]

    return ask


def check(images: list[Image], ask: Ask) -> list[Verdict]:
    """Ask the registry about each image."""
    verdicts = []
    for image in images:
        try:
            verdicts.append(Verdict(image, ask(image.name)))
        except OSError as error:
            verdicts.append(Verdict(image, None, str(error)))
    return verdicts


def exit_code(verdicts: list[Verdict]) -> int:
    """1 when a digest is wrong, else 3 when one could not be checked, else 0."""
    if any(one.is_wrong for one in verdicts):
        return WRONG
    return NOT_CHECKED if not verdicts or any(one.digest is None for one in verdicts) else 0
