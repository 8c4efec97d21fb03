"""Names of our images have one home, and what goes into them is what the product needs."""

import re
from importlib.metadata import distribution
from pathlib import Path

from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from wallwatch_local.image_builds import published
from wallwatch_local.paths import REPOSITORY

LOCK = REPOSITORY / "requirements.lock"
IMAGE_LOCK = REPOSITORY / "docker" / "requirements.lock"
PINNED = re.compile(r"^([a-z0-9-]+)==([^ ;\\]+)(?: ; (.+?))? \\\n((?:    --hash=\S+(?: \\)?\n)+)", re.MULTILINE)


def pins(file: Path) -> set[tuple[str, str, str]]:
    """(name, version, hashes) of every package of a lock."""
    return {
        (name, version, " ".join(sorted(re.findall(r"--hash=(\S+)", hashes))))
        for name, version, _, hashes in PINNED.findall(file.read_text())
    }


def test_every_document_names_our_images_as_they_are_published() -> None:
    names = set(published().values())
    files = [
        REPOSITORY / "docker-compose.yml",
        *(REPOSITORY / "docs").glob("*.md"),
        *REPOSITORY.glob("*/README.md"),
        REPOSITORY / "README.md",
    ]
    found = {(file.name, name) for file in files for name in re.findall(r"wallwatch/(?:central|host):[\w.-]+", file.read_text())}
    assert {name for _, name in found} == names
    assert {file for file, _ in found} >= {"docker-compose.yml", "operating.md"}


def test_the_image_installs_a_part_of_what_is_locked_and_tested() -> None:
    image, whole = pins(IMAGE_LOCK), pins(LOCK)
    assert len(image) > 80
    assert len(whole) == len(re.findall("==", re.sub("^#.*$| ; .*", "", LOCK.read_text(), flags=re.MULTILINE)))
    assert image <= whole, "make it again: the command is its first lines"
    compiling = pins(REPOSITORY / "docker" / "compile.lock")
    assert {"mypy", "setuptools"} <= {name for name, _, _ in compiling}
    assert compiling <= whole, "make it again: the command is its first lines"


def test_the_image_installs_everything_that_the_product_asks_for_and_nothing_of_its_development() -> None:
    seen: dict[str, Requirement] = {}
    pending = [Requirement("wallwatch")]
    while pending:
        one = pending.pop()
        for needed in map(Requirement, distribution(one.name).requires or []):
            environments = [{**default_environment(), "extra": extra} for extra in one.extras or {""}]
            asked = needed.marker is None or any(needed.marker.evaluate(environment) for environment in environments)
            if asked and str(needed) not in seen:
                seen[str(needed)] = needed
                pending.append(needed)
    wanted = {canonicalize_name(needed.name) for needed in seen.values()}
    locked = {name for name, _, _ in pins(IMAGE_LOCK)}
    assert wanted <= locked
    assert locked & {"pytest", "mypy", "ruff", "hypothesis", "schemathesis", "matplotlib", "kubernetes-validate"} == set()
