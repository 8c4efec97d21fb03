"""Starts the stack of a scenario, runs Playwright against it, stops the stack; the exit code is Playwright's.

Environment: SCENARIO (a name from tests/scenarios, default `demo`), E2E_KEEP_LOGS (a folder to which the stack's logs are copied).
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from wallwatch_local import hosts
from wallwatch_local.errors import LocalStackError
from wallwatch_local.paths import REPOSITORY
from wallwatch_local.signals import Interrupted, interruptible
from wallwatch_testing import single_sign_on, stack

E2E = REPOSITORY / "tests" / "e2e"


def playwright() -> list[str]:
    """The command of Playwright: the tests' own installation, or the frontend's."""
    for folder in (E2E, REPOSITORY / "frontend"):
        program = folder / "node_modules" / ".bin" / "playwright"
        if program.exists():
            return [str(program), "test"]
    raise LocalStackError("Playwright is not installed: run 'make setup'")


def main(arguments: list[str]) -> int:
    """Run stack and tests once."""
    if not stack.is_root():
        print("tests/e2e/run must run as root: the stack creates mounts", file=sys.stderr)
        return 1
    folder = Path(tempfile.mkdtemp(prefix="ww-e2e-"))
    try:
        with interruptible():
            return _run(folder, arguments)
    except Interrupted:
        return 130
    except LocalStackError as error:
        print(error, file=sys.stderr)
        return 1
    finally:
        keep = os.environ.get("E2E_KEEP_LOGS")
        if keep:
            shutil.copytree(folder / "logs", keep, dirs_exist_ok=True)
        shutil.rmtree(folder, ignore_errors=True)


def _run(folder: Path, arguments: list[str]) -> int:
    command = [*playwright(), *arguments]
    scenario = hosts.scenario_file(os.environ.get("SCENARIO", "demo"))
    with stack.start(folder, scenario) as running, single_sign_on.running(running.layout) as single_sign_on_variables:
        environment = (
            os.environ
            | single_sign_on_variables
            | {
                "E2E_BASE_URL": running.layout.api_url,
                "E2E_USER": running.username,
                "E2E_PASSWORD": running.password,
            }
        )
        return subprocess.run(command, cwd=E2E, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
