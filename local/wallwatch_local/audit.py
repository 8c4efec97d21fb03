"""Known weaknesses in the dependencies: what pip-audit, govulncheck and `npm audit` find, and what they could not check.

Each of the tools can end well although it compared nothing: pip-audit skips what its service does not know and still exits with 0. So
an answer counts as clean only when the tool says of each package that it was looked up.
"""

import json
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wallwatch_local.paths import REPOSITORY, tools_dir

NOT_CHECKED = 3
TIMEOUT_S = 600


@dataclass(frozen=True)
class Audit:
    """What one tool says of one kind of dependency."""

    kind: str
    checked: int = 0
    weaknesses: list[str] = field(default_factory=list)
    problem: str | None = None
    """Why not everything was checked, and what to do."""

    def text(self) -> str:
        lines = [f"{self.kind}: {len(self.weaknesses)} known weaknesses in {self.checked} packages"]
        if self.problem:
            lines = [
                f"{self.kind}: NOT CHECKED. {self.problem}" if not self.checked else f"{lines[0]}; the rest was NOT CHECKED. {self.problem}"
            ]
        return "\n".join([*lines, *(f"  {one}" for one in self.weaknesses)])


def exit_code(audits: list[Audit]) -> int:
    """1 when a weakness was found, else 3 when something could not be checked, else 0."""
    if any(one.weaknesses for one in audits):
        return 1
    return NOT_CHECKED if any(one.problem for one in audits) else 0


def run() -> list[Audit]:
    """Ask all three tools, one after another."""
    return [
        _asked("Python", [*_pip_audit(), "--format", "json"], REPOSITORY, python),
        _asked("Go", [str(tools_dir() / "bin" / "govulncheck"), "-format", "json", "./..."], REPOSITORY / "collectors", go),
        _asked("npm", ["npm", "audit", "--json"], REPOSITORY / "frontend", npm),
    ]


def _pip_audit() -> list[str]:
    program = str(tools_dir() / "audit" / "bin" / "pip-audit")
    return [
        program,
        "--requirement",
        str(REPOSITORY / "requirements.lock"),
        "--disable-pip",
        "--require-hashes",
        "--progress-spinner",
        "off",
    ]


def _asked(kind: str, command: list[str], folder: Path, read: Callable[[str, str], Audit]) -> Audit:
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    except FileNotFoundError:
        return Audit(kind, problem=f"{command[0]} is not installed: run 'make audit'")
    except subprocess.TimeoutExpired:
        return Audit(kind, problem=f"{Path(command[0]).name} took longer than {TIMEOUT_S} s")
    return read(done.stdout, done.stderr)


def python(output: str, errors: str) -> Audit:
    """The answer of pip-audit, format json."""
    try:
        packages: list[dict[str, Any]] = json.loads(output)["dependencies"]
    except (ValueError, KeyError, TypeError):
        return Audit("Python", problem=_unreachable("the advisories of the Python package index", errors))
    looked_up = [one for one in packages if "skip_reason" not in one]
    found = [
        f"{one['name']} {one['version']}: {weakness['id']}, mended in {', '.join(weakness['fix_versions']) or 'no version yet'}"
        for one in looked_up
        for weakness in one["vulns"]
    ]
    skipped = len(packages) - len(looked_up)
    problem = None
    if skipped or not packages:
        reason = next((one["skip_reason"] for one in packages if "skip_reason" in one), "the lockfile named no package")
        problem = f"{skipped} of {len(packages)} packages are unknown to the database of advisories; the first: {reason}"
    return Audit("Python", len(looked_up), found, problem)


def go(output: str, errors: str) -> Audit:
    """The answer of govulncheck, format json: one object after another, findings among them."""
    decoder, position, modules = json.JSONDecoder(), 0, 0
    found: dict[str, str] = {}
    text = output.strip()
    database = False
    try:
        while position < len(text):
            one, end = decoder.raw_decode(text, position)
            position = end + len(text[end:]) - len(text[end:].lstrip())
            modules = max(modules, len(one.get("SBOM", {}).get("modules", [])))
            database = database or bool(one.get("config", {}).get("db_last_modified"))
            if "finding" in one:
                trace = one["finding"]["trace"][0]
                mended = one["finding"].get("fixed_version", "no version yet")
                called = " (called)" if "function" in trace else ""
                name = f"{trace['module']} {trace.get('version', '')}: {one['finding']['osv']}, mended in {mended}"
                found[name] = found.get(name, "") or called
    except (ValueError, KeyError, TypeError, IndexError):
        return Audit("Go", problem=_unreachable("Go's database of vulnerabilities", errors or output))
    if not database or not modules:
        return Audit("Go", problem=_unreachable("Go's database of vulnerabilities", errors))
    return Audit("Go", modules, [name + called for name, called in sorted(found.items())])


def npm(output: str, errors: str) -> Audit:
    """The answer of `npm audit --json`."""
    try:
        answer: dict[str, Any] = json.loads(output)
    except ValueError:
        return Audit("npm", problem=_unreachable("the advisories of the npm registry", errors))
    try:
        packages = int(answer["metadata"]["dependencies"]["total"])
    except (KeyError, TypeError):
        return Audit("npm", problem=_unreachable("the advisories of the npm registry", str(answer.get("message", errors))))
    found = [f"{name} {one['range']}: {one['severity']}" for name, one in sorted(answer["vulnerabilities"].items())]
    return Audit("npm", packages, found)


def _unreachable(database: str, errors: str) -> str:
    lines = [line.strip() for line in errors.splitlines() if line.strip()]
    said = f" It said: {lines[-1][:200]}" if lines else ""
    return f"{database[0].upper()}{database[1:]} did not answer: run this where it can be reached.{said}"
