"""From a function's profile files to its trained model: one way for the command line and the API."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from wallwatch.domain.contention import function_model
from wallwatch.domain.contention.composition import Pattern
from wallwatch.domain.contention.function_model import FunctionModel
from wallwatch.domain.contention.gaussian_process import Array
from wallwatch.domain.contention.own_load import OwnLoad
from wallwatch.domain.contention.profile_columns import (
    COUNTERS,
    ENGINE_PROFILE,
    MEMORY_PROFILE,
    TRAFFIC,
    WHOLE_ENGINE_PROFILE,
    Column,
)
from wallwatch.domain.contention.profile_rows import read, same_counters

OWN_LOAD = (*TRAFFIC, *COUNTERS)
PATTERN_FILE = "pattern"
"""File of a folder of profiles with the execution pattern that `wallwatch nf profile` detected."""


class ProfileKind(StrEnum):
    """What a file holds; its value is the part of the file's name that says so."""

    MEMORY = "mem_train"
    ENGINE = "reg_train"
    REFERENCE = "slomo_train"
    OWN_LOAD = "own_load"


COLUMNS: Mapping[ProfileKind, tuple[Column, ...]] = {
    ProfileKind.MEMORY: MEMORY_PROFILE,
    ProfileKind.ENGINE: ENGINE_PROFILE,
    ProfileKind.REFERENCE: MEMORY_PROFILE,
    ProfileKind.OWN_LOAD: OWN_LOAD,
}


class UnusableProfiles(ValueError):
    """Files that are missing, given twice or of no known kind, or whose rows do not suffice."""


@dataclass(frozen=True, slots=True)
class ProfileFile:
    """The name and the text of one file."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Profiles:
    """Checked rows by kind; `hashes` maps file names to SHA-256."""

    rows: Mapping[ProfileKind, Array]
    hashes: Mapping[str, str]

    @property
    def own_load(self) -> OwnLoad | None:
        rows = self.rows.get(ProfileKind.OWN_LOAD)
        return None if rows is None else OwnLoad.of_rows(rows)


def kind_of(name: str) -> ProfileKind | None:
    """
    >>> kind_of("sample_yala_mem_train"), kind_of("notes.txt")
    (<ProfileKind.MEMORY: 'mem_train'>, None)
    """
    return next((kind for kind in ProfileKind if kind.value in name), None)


def columns_of(kind: ProfileKind, text: str) -> tuple[Column, ...]:
    """Columns of a file: a profile of the accelerator may have two more, which its first row decides.

    >>> [column.name for column in columns_of(ProfileKind.ENGINE, "100 0.0004 2 1518")]
    ['mtbr', 'time_per_packet', 'queues', 'packet_bytes']
    """
    whole = kind is ProfileKind.ENGINE and len(text.lstrip().partition("\n")[0].split()) == len(WHOLE_ENGINE_PROFILE)
    return WHOLE_ENGINE_PROFILE if whole else COLUMNS[kind]


def read_profiles(files: Sequence[ProfileFile]) -> Profiles:
    """Read and check one file of each kind.

    Raises
    ------
    BadProfile
        With every bad value of a file, by row and column.
    UnusableProfiles
        When the memory profile is missing, or a file is of no known kind or one too many of its kind.
    """
    by_kind: dict[ProfileKind, ProfileFile] = {}
    for file in files:
        kind = kind_of(file.name)
        if kind is None:
            raise UnusableProfiles(f"{file.name}: its name says no kind of profile; one of {', '.join(ProfileKind)} must be part of it")
        if kind in by_kind:
            raise UnusableProfiles(f"{by_kind[kind].name} and {file.name} are both of the kind {kind}: give one of each kind")
        by_kind[kind] = file
    if ProfileKind.MEMORY not in by_kind:
        raise UnusableProfiles(
            f"a file *{ProfileKind.MEMORY}* is required: rows of flows, packet size, seven counters of the competitors, throughput"
        )
    rows = {kind: read(file.text, columns_of(kind, file.text), file.name) for kind, file in by_kind.items()}
    if ProfileKind.REFERENCE in by_kind:
        names = by_kind[ProfileKind.MEMORY].name, by_kind[ProfileKind.REFERENCE].name
        same_counters(rows[ProfileKind.MEMORY], rows[ProfileKind.REFERENCE], MEMORY_PROFILE, *names)
    return Profiles(rows, {file.name: hashlib.sha256(file.text.encode()).hexdigest() for file in by_kind.values()})


def train_profiles(function: str, profiles: Profiles, pattern: Pattern, seed: int = 0) -> FunctionModel:
    """Train on checked profiles.

    Raises
    ------
    UnusableProfiles
        When the rows are too few, do not vary, or do not fit together.
    """
    rows = profiles.rows
    try:
        return function_model.train(
            function,
            rows[ProfileKind.MEMORY],
            rows.get(ProfileKind.ENGINE),
            rows.get(ProfileKind.REFERENCE),
            pattern,
            profiles.hashes,
            seed,
        )
    except ValueError as problem:
        raise UnusableProfiles(str(problem)) from None
