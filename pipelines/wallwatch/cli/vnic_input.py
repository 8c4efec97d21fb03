"""Input of the `wallwatch vnic` commands: JSON with exact decimals, and one way to refuse it."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any, NoReturn

import typer

BAD_INPUT = 2
MOST_DIGITS = 300
"""Decimal exponents near those of the largest double are refused: an exact 1e999999999 would not fit into memory."""


def refuse(command: str, message: str) -> NoReturn:
    """Print the reason to stderr and exit with code 2."""
    typer.echo(f"wallwatch vnic {command}: {message}", err=True)
    raise typer.Exit(BAD_INPUT)


def read_json(command: str, file: Path) -> Any:
    """The file's JSON; numbers with a decimal point as `Decimal`. `-` reads stdin. Refuses what cannot be read."""
    try:
        text = typer.get_binary_stream("stdin").read() if str(file) == "-" else file.read_bytes()
    except OSError as problem:
        refuse(command, f"{file} cannot be read: {problem.strerror}")
    try:
        return json.loads(text.decode("utf-8-sig"), parse_float=_decimal, parse_int=_integer, parse_constant=_constant)
    except (ValueError, RecursionError) as problem:
        refuse(command, f"{file} is not valid JSON: {str(problem) or type(problem).__name__}")


def _decimal(text: str) -> Decimal:
    number = Decimal(text)
    if abs(number.adjusted()) > MOST_DIGITS:
        raise ValueError(f"the number {text} is too large or too small")
    return number


def _integer(text: str) -> int | Decimal:
    return int(text) if len(text) < 18 else _decimal(text)  # longer ones would not fit into 64 bits when written again


def _constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a number in JSON")


def as_float(value: object) -> float:
    """For writing JSON: the double nearest to an exact number."""
    if isinstance(value, Decimal):
        return float(value)
    raise TypeError(f"cannot write {type(value).__name__}")
