"""A token for a benchmark: it belongs to an account, which is made first."""

import secrets
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

WALLWATCH = str(Path(sys.executable).with_name("wallwatch"))


def token(environment: Mapping[str, str], role: str = "viewer") -> str:
    """Make an account and a token of it in the database that the environment names."""

    def run(*arguments: str) -> str:
        return subprocess.run([WALLWATCH, *arguments], env=dict(environment), check=True, capture_output=True, text=True).stdout

    with tempfile.NamedTemporaryFile("w", prefix="ww-bench-") as file:
        file.write(secrets.token_urlsafe(24))
        file.flush()
        run("user", "create", "bench", "--role", role, "--password-file", file.name)
    return run("token", "create", "--name", "bench", "--owner", "bench", "--role", role).split()[-1]
