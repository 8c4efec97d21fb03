"""The stages of `classify` and `isolation` as machine code: the same modules, translated by mypyc, for the plain ones (decision 0040).

`python -m wallwatch.jobs.compile_stage` puts them into a folder of the Python environment. They are used only by a process that asks for it
before it imports one of them, and only if they come from exactly the source that is installed. Otherwise the plain modules run.
"""

from __future__ import annotations

import hashlib
import logging
import sys
import sysconfig
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader, ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType

log = logging.getLogger(__name__)

_SYMPTOMS = (
    "baseline", "clock_steps", "detect", "events", "features", "first_signs", "fleet_totals", "host", "host_stage",
    "packed_window", "peers", "rnic_stage", "rnic_state", "signal_places", "signals", "transport", "watched_counters",
    "window",
)  # fmt: skip
_ISOLATION = (
    "counters", "detector", "egress", "engine_load", "engine_shares", "full_part", "ingress", "live", "minutes", "pressure",
    "reading_order", "readings", "second", "shared_delay", "shared_queue", "verdicts", "vf_track", "vf_verdicts",
)  # fmt: skip
MODULES = (
    "wallwatch.domain.performance.remembered",
    *(f"wallwatch.domain.symptoms.{name}" for name in _SYMPTOMS),
    *(f"wallwatch.domain.isolation.{name}" for name in _ISOLATION),
    "wallwatch.domain.telemetry.rows",
    "wallwatch.domain.telemetry.shared_text",
    "wallwatch.jobs.host_samples",
    "wallwatch.jobs.host_state",
    "wallwatch.jobs.time_order",
)
"""What is executed for every sample."""

GROUP = "wallwatch_stage"
LIBRARY = f"{GROUP}__mypyc"
"""The library that has the code of all of them, as mypyc names it."""

SOURCES = Path(__file__).parents[1]
"""The package `wallwatch`."""


def folder() -> Path:
    """Where the modules are that come from the installed source, if they are there."""
    return Path(sysconfig.get_path("platlib")) / "wallwatch_compiled" / _fingerprint()


def _fingerprint() -> str:
    """Changes with the Python that runs this and with any source that the modules rest on."""
    found = hashlib.sha256(sysconfig.get_config_var("SOABI").encode())
    for file in sorted([*(SOURCES / "domain").rglob("*.py"), *(SOURCES / "jobs").glob("*.py")]):
        found.update(f"{file.relative_to(SOURCES)}\n".encode() + file.read_bytes())
    return found.hexdigest()[:20]


def file_of(module: str) -> str:
    """Name of a module's file in the folder."""
    return module + EXTENSION_SUFFIXES[0]


class _Finder:
    """Finds the compiled modules before the plain ones are looked for."""

    def __init__(self, compiled: Path) -> None:
        self._compiled = compiled

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name not in MODULES and name != LIBRARY:
            return None
        file = str(self._compiled / file_of(name))
        return spec_from_file_location(name, file, loader=ExtensionFileLoader(name, file))


def use() -> bool:
    """Use the compiled modules in this process, if they are there; says in the log which ones are used."""
    compiled = folder()
    if not compiled.is_dir():
        log.info("the stage runs as plain Python: it was not compiled from this source (python -m wallwatch.jobs.compile_stage)")
        return False
    loaded = [name for name in MODULES if name in sys.modules]
    if loaded:
        log.warning("the stage runs as plain Python: it is too late for the compiled one, %s was imported before", loaded[0])
        return False
    finder = _Finder(compiled)
    if missing := [name for name in (*MODULES, LIBRARY) if not (compiled / file_of(name)).is_file()]:
        log.warning("the stage runs as plain Python: of the compiled one, %s is missing", missing[0])
        return False
    sys.meta_path.insert(0, finder)
    try:
        import_module(LIBRARY)  # has the code of all of them
    except ImportError as error:
        sys.meta_path.remove(finder)
        log.warning("the stage runs as plain Python: the compiled one cannot be loaded: %s", error)
        return False
    log.info("the stage runs as machine code")
    return True
