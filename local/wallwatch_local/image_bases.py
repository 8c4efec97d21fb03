"""Stand-ins for the images that the Dockerfiles begin with, where no registry is reached.

They have the same Debian release, from the packages of the mirror that this machine's apt uses; bases.Dockerfile says what else.
"""

import hashlib
import platform
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from wallwatch_local.buildah import Buildah
from wallwatch_local.errors import LocalStackError
from wallwatch_local.paths import REPOSITORY

DOCKERFILE = REPOSITORY / "local" / "images" / "bases.Dockerfile"
RELEASE = "bookworm"
NODE, NPM = "22.23.3", "10.9.9"
STAGES: Mapping[str, str] = {"DEBIAN_IMAGE": "debian", "PYTHON_IMAGE": "python", "NODE_IMAGE": "node", "GO_IMAGE": "go"}
"""Argument of a Dockerfile -> stage of bases.Dockerfile that takes the place of its default."""

_NODE_MACHINES = {"x86_64": "x64", "aarch64": "arm64"}
_MIRROR = ("apt-get", "indextargets", "--format", "$(SITE) $(COMPONENT)", "Created-By: Packages")


def build(buildah: Buildah) -> dict[str, str]:
    """Argument -> image, each built unless the store has it.

    Raises
    ------
    LocalStackError
        When one cannot be built here.
    """
    images = {argument: f"localhost/wallwatch-base-{stage}:{_recipe()}" for argument, stage in STAGES.items()}
    missing = {argument: image for argument, image in images.items() if not buildah.has(image)}
    if missing:
        buildah.folder.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=buildah.folder) as folder:
            context = Path(folder)
            _debian(context)
            _go(context)
            _node(context)
            for argument, image in missing.items():
                buildah.build(DOCKERFILE, context, image, {}, options=("--layers", "--target", STAGES[argument]))
    return images


def build_other(buildah: Buildah, machine: str) -> str:
    """Debian's base for another kind of machine: its packages are unpacked and not set up, as nothing of it runs here."""
    image = f"localhost/wallwatch-base-debian-{machine}:{_recipe()}"
    if not buildah.has(image):
        with TemporaryDirectory(dir=buildah.folder) as folder:
            context = Path(folder)
            _debian(context, "--foreign", f"--arch={machine}")
            buildah.build(DOCKERFILE, context, image, {}, options=("--target", "debian", f"--platform=linux/{machine}"))
    return image


def _recipe() -> str:
    parts = (DOCKERFILE.read_text(), RELEASE, NODE, NPM, _output("go", "env", "GOVERSION"))
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:12]


def _debian(context: Path, *options: str) -> None:
    root = context / "root"
    mirrors = [line.split()[0] for line in _output(*_MIRROR).splitlines() if line.endswith(" main") and "security" not in line]
    # It mounts /proc in the folder and leaves it there; in a namespace of its own that ends with it.
    _output("unshare", "--mount", "debootstrap", "--variant=minbase", *options, RELEASE, str(root), *mirrors[:1])
    shutil.rmtree(root / "debootstrap", ignore_errors=True)
    shutil.rmtree(root / "var" / "lib" / "apt" / "lists", ignore_errors=True)
    (root / "var" / "lib" / "apt" / "lists").mkdir(parents=True)
    for package in (root / "var" / "cache" / "apt" / "archives").glob("*.deb"):
        package.unlink()
    # What debootstrap takes over from this machine.
    for file in ("hostname", "resolv.conf"):
        (root / "etc" / file).unlink(missing_ok=True)
    _output("tar", "--create", "--file", str(context / "debian.tar"), "--directory", str(root), "--one-file-system", ".")
    shutil.rmtree(root)


def _go(context: Path) -> None:
    # The toolchain that go.mod asks for, which the Go of this machine fetches when it is another one.
    root = _output("go", "env", "-C", str(REPOSITORY / "collectors"), "GOROOT")
    _output("cp", "--archive", "--dereference", root, str(context / "go"))


def _node(context: Path) -> None:
    packages = context / "npm"
    if platform.machine() not in _NODE_MACHINES:
        raise LocalStackError(f"images are built on {' or '.join(_NODE_MACHINES)}, and this is {platform.machine()}")
    name = f"node-linux-{_NODE_MACHINES[platform.machine()]}"
    _output("npm", "install", "--no-audit", "--no-fund", "--prefix", str(packages), f"{name}@{NODE}", f"npm@{NPM}")
    programs, modules = context / "node" / "bin", context / "node" / "lib" / "node_modules"
    programs.mkdir(parents=True)
    modules.mkdir(parents=True)
    shutil.move(packages / "node_modules" / name / "bin" / "node", programs)
    shutil.move(packages / "node_modules" / "npm", modules)
    for program in ("npm", "npx"):
        (programs / program).symlink_to(f"../lib/node_modules/npm/bin/{program}-cli.js")
    shutil.rmtree(packages)


def _output(*command: str) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise LocalStackError(f"{command[0]} is not installed: local/setup.sh images") from None
    if done.returncode != 0:
        raise LocalStackError(f"{command[0]} failed: {(done.stderr or done.stdout).strip()[-2000:]}")
    return done.stdout.strip()
