"""Input of the `wallwatch nf` commands: profiles, models, scenarios, and one way to refuse them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeGuard

import typer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wallwatch.domain.contention.function_model import FunctionModel
    from wallwatch.domain.contention.gaussian_process import Array
    from wallwatch.domain.contention.profile_columns import Column

BAD_INPUT = 2
MODEL = typer.Option(metavar="FILE", help="a model of `wallwatch nf train`")
YALA, JSON = "yala", "json"


def refuse(command: str, message: str) -> NoReturn:
    """Print the reason to stderr and exit with code 2."""
    typer.echo(f"wallwatch nf {command}: {message}", err=True)
    raise typer.Exit(BAD_INPUT)


def read_text(command: str, file: Path) -> str:
    """The file's text; `-` reads stdin."""
    try:
        return (typer.get_binary_stream("stdin").read() if str(file) == "-" else file.read_bytes()).decode("utf-8-sig")
    except OSError as problem:
        refuse(command, f"{file} cannot be read: {problem.strerror}")
    except UnicodeDecodeError:
        refuse(command, f"{file} is not text")


def read_json(command: str, file: Path) -> Any:
    """The file's JSON; numbers are finite."""
    try:
        return json.loads(read_text(command, file), parse_constant=_constant)
    except (ValueError, RecursionError) as problem:
        refuse(command, f"{file} is not valid JSON: {str(problem) or type(problem).__name__}")


def _constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a number in JSON")


def read_rows(command: str, file: Path, columns: Sequence[Column], optional: Column | None = None) -> Array:
    """Blank-separated rows, checked; the first of them decides whether there is the optional last column."""
    from wallwatch.domain.contention.profile_rows import BadProfile, read

    text = read_text(command, file)
    if optional is not None and len(next((line.split() for line in text.splitlines() if line.strip()), [])) == len(columns) + 1:
        columns = (*columns, optional)
    try:
        return read(text, columns, str(file))
    except BadProfile as problem:
        refuse(command, f"bad measurements\n{problem}")


def read_model(command: str, file: Path) -> FunctionModel:
    """A trained model."""
    from wallwatch.domain.contention.function_model import BadModel, FunctionModel

    body = read_json(command, file)
    try:
        return FunctionModel.from_json(body)
    except (BadModel, KeyError, TypeError, ValueError) as problem:
        refuse(command, f"{file}: {problem}")


def number(command: str, where: str, body: Mapping[str, Any], name: str, default: float | None = None, low: float = 0.0) -> float:
    """A finite number of at least `low` in a JSON object."""
    value = body.get(name, default)
    if not is_number(value) or value < low:
        refuse(command, f"{where}: {name} must be a number of at least {low:g}, not {json.dumps(value)[:40]}")
    return float(value)


def is_number(value: object) -> TypeGuard[int | float]:
    """Whether it is a finite number: JSON's integers may have more digits than a float can take, and Python takes booleans for integers.

    >>> is_number(1), is_number(True), is_number(10**400), is_number("1")
    (True, False, False, False)
    """
    try:
        return not isinstance(value, bool) and isinstance(value, int | float) and isfinite(value)
    except OverflowError:
        return False


def cases_of(command: str, file: Path, body: Any) -> list[dict[str, Any]]:
    """One object, or a list of objects, as a list."""
    cases = body if isinstance(body, list) else [body]
    for at, case in enumerate(cases):
        if not isinstance(case, dict):
            refuse(command, f"{file}: case {at}: an object is required")
    return cases
