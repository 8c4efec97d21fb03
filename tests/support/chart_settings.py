"""Writes helm/wallwatch/settings.txt: the settings that `settings` of the chart takes (with `--check`, it only compares).

These are all settings of the server's processes, without those that the chart decides itself. A name that is in neither would be
silently ignored by the process, so the chart refuses it.
"""

import re
import sys
from pathlib import Path

from wallwatch.settings import Settings as JobSettings
from wallwatch_backend.settings import Settings as BackendSettings
from wallwatch_local.paths import REPOSITORY

FILE = REPOSITORY / "helm" / "wallwatch" / "settings.txt"
DECIDED = (REPOSITORY / "docker-compose.yml", REPOSITORY / "docker" / "own-kafka.yml")
"""Which settings these give to a process, the chart gives to it, too (tests/contract)."""


def names() -> list[str]:
    """Every variable that may be set, in alphabetical order."""
    every = {f"WALLWATCH_{name.upper()}" for settings in (JobSettings, BackendSettings) for name in settings.model_fields}
    decided = {name for file in DECIDED for name in re.findall(r"^ +(WALLWATCH_\w+):", file.read_text(), re.MULTILINE)}
    # A password in a value of the chart could be read by everybody who may read the Deployment.
    return sorted(name for name in every - decided if not name.startswith("WALLWATCH_KAFKA_SASL_"))


def main(arguments: list[str], file: Path = FILE) -> int:
    """Write or compare; 1 when the file is out of date."""
    new = "".join(f"{name}\n" for name in names())
    old = file.read_text() if file.exists() else ""
    if "--check" in arguments:
        if new != old:
            print(f"{file.relative_to(REPOSITORY)} is out of date: run 'make generate'", file=sys.stderr)
        return int(new != old)
    file.write_text(new)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
