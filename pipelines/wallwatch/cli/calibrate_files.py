"""The files of `wallwatch calibrate perftest`: find them, read them and derive the mask counts that each was measured under."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import typer
import yaml

if TYPE_CHECKING:
    from wallwatch.domain.calibration.files import File

SUFFIXES = (".log", ".txt", ".out", ".json")


def files_read(paths: Iterable[Path], masks: str | None, manifest: Path | None, excluded: Iterable[Path]) -> list[File]:
    """Read every file once; `excluded` are files that may lie in the same folder and are not measurements.

    Ends the program with exit code 2 when a requested file does not exist or cannot be read.
    """
    from wallwatch.domain.calibration.files import File
    from wallwatch.domain.perftest.text import text_of

    given = _manifest(manifest)
    everywhere = None if masks is None else _counts(masks)
    others = {file.resolve() for file in excluded}
    found = {path.resolve(): path for path in _found(paths)}
    read: list[File] = []
    for path in (path for resolved, path in found.items() if resolved not in others):
        try:
            text = text_of(path.read_bytes())
        except OSError as problem:
            _end(f"{path} cannot be read: {problem.strerror or problem}")
        except ValueError as problem:
            _end(f"{path} cannot be read: {problem}")
        name = _name_with_counts(path)
        counts = given.get(str(path), given.get(path.name))
        read.append(File(name, text, counts if counts is not None else None if _has_counts(name) else everywhere))
    unused = sorted(set(given) - {path.name for path in found.values()} - {str(path) for path in found.values()})
    if unused:
        typer.echo(f"the manifest {manifest} names files that were not given: {', '.join(unused)}", err=True)
    return read


def _name_with_counts(path: Path) -> str:
    """The file's name, prefixed with its folders up to the one whose name has the mask counts: many people keep one folder per setting."""
    if _has_counts(path.name):
        return path.name
    parts = path.parts
    for up in range(2, min(len(parts), 4) + 1):
        if _has_counts(parts[-up]):
            return "/".join(parts[-up:])
    return path.name


def _has_counts(name: str) -> bool:
    from wallwatch.domain.calibration.conditions import place_of_name

    try:
        return place_of_name(name) is not None
    except ValueError:
        return True  # its numbers are invalid: the calibration reports that


def _found(paths: Iterable[Path]) -> list[Path]:
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            inside = sorted(p for p in path.rglob("*") if p.name.removesuffix(".gz").endswith(SUFFIXES) and p.is_file())
            if not inside:
                _end(f"folder {path} and its subfolders have no {', '.join('*' + suffix for suffix in SUFFIXES)}")
            found += inside
        elif not path.exists():
            _end(f"file {path} does not exist")
        else:
            found.append(path)
    return found


def _counts(text: str) -> dict[str, float]:
    from wallwatch.domain.calibration.conditions import place_of

    pairs = [(key.strip().lower(), value.strip()) for key, _, value in (part.partition("=") for part in text.split(","))]
    try:
        counts = {key: float(value) for key, value in pairs}
        if len(counts) < len(pairs):
            raise ValueError("a name occurs twice")
        place_of(counts)
    except ValueError as problem:
        _end(f"--masks {text!r}: {problem}")
    return counts


def _manifest(file: Path | None) -> Mapping[str, dict[str, float]]:
    if file is None:
        return {}
    try:
        raw = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as problem:
        _end(f"the manifest {file} cannot be read: {problem}")
    if not isinstance(raw, dict) or not all(isinstance(body, dict) for body in raw.values()):
        _end(f"the manifest {file} must map each file's name to {{cen, cde, sen, sde}} or {{ql, qr}}")
    return {str(name): {str(k): v for k, v in body.items()} for name, body in raw.items()}


def _end(message: str) -> NoReturn:
    typer.echo(f"wallwatch calibrate: {message}", err=True)
    raise typer.Exit(2)
