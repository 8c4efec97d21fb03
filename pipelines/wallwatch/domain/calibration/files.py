"""From files to a calibration: what the command line and the API do alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from wallwatch.domain.calibration.calibrate import NothingToFit, Wish, calibrate, nearest_profile
from wallwatch.domain.calibration.conditions import ASSUMPTIONS_OF_MASKS, Masks, Place, incomplete_counts, place_of, place_of_name, queries
from wallwatch.domain.calibration.points import Measured
from wallwatch.domain.calibration.result import Calibration, FileRead
from wallwatch.domain.catalogue.load import profiles
from wallwatch.domain.performance.parameters import Performance
from wallwatch.domain.perftest.parse import parse


@dataclass(frozen=True, slots=True)
class File:
    """Name and text of a file; `counts` are its numbers of masks, or its lookups, if its name does not encode them."""

    name: str
    text: str
    counts: Mapping[str, float] | None = None


def calibrate_files(files: Sequence[File], profile: str | None, current: Performance | None = None, wish: Wish = Wish()) -> Calibration:
    """Read, derive the lookups, fit, judge.

    Parameters
    ----------
    files : sequence of File
    profile : str or None
        The model that was measured; None takes the one whose profile is nearest.
    current : Performance, optional
        What the fit must beat, where it is not the catalogue's.

    Raises
    ------
    NothingToFit
        With every problem of the files in its message.
    """
    measured: list[Measured] = []
    problems: list[str] = []
    read: list[FileRead] = []
    by_masks = False
    for file in files:
        output = parse(file.text, file.name)
        problems += output.problems
        place, problem = _place(file)
        if place is None:
            problems.append(problem)
            read.append(FileRead(name=file.name, runs=len(output.runs), used=0))
            continue
        by_masks = by_masks or isinstance(place, Masks)
        used = 0
        q_l = q_r = None
        for run in output.runs:
            q_l, q_r = queries(place, run.quantity, run.verb, run.bidirectional)
            measured.append(Measured(file.name, q_l, q_r, run))
            used += run.verb != "atomic" and not (run.verb == "read" and run.quantity == "bandwidth")
        read.append(FileRead(name=file.name, runs=len(output.runs), used=used, q_l=q_l, q_r=q_r))
    # A profile with another's parameters would only stand in that one's way.
    known = {name: p.performance for name, p in profiles().items() if p.performance_basis != "assumed" or name == profile}
    if not measured:
        raise NothingToFit("nothing to fit" if problems else "nothing to fit: no file was given", problems)
    name = profile or nearest_profile(measured, known, wish)
    return calibrate(
        measured,
        current or known[name],
        name,
        chosen="given" if profile else "nearest",
        others=list(known.values()),
        wish=wish,
        problems=problems,
        files=read,
        assumptions=ASSUMPTIONS_OF_MASKS if by_masks else (),
    )


def _place(file: File) -> tuple[Place | None, str]:
    try:
        place = place_of_name(file.name) if file.counts is None else place_of(file.counts)
    except ValueError as problem:
        return None, f"{file.name}: {problem}"
    if place is None:
        return None, (
            f"{file.name}: unknown mask counts{incomplete_counts(file.name)}:"
            " name it cen_0_cde_0_sen_0_sde_0_... or ql_0_qr_0_..., or give --masks or --manifest (by the API: the field masks)"
        )
    return place, ""
