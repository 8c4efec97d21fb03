"""Seconds per VF by state, and the error budget of the promise."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from wallwatch.domain.isolation.verdicts import State, Verdict

TARGET = 0.999
"""Part of the judged seconds that a promise is meant to hold when the operator names no other: some 43 minutes a month may break."""


@dataclass(slots=True)
class VfTally:
    """Seconds of one VF."""

    vf: str
    kept_s: float = 0.0
    broken_s: float = 0.0
    estimated_s: float = 0.0
    """Part of `broken_s` from intervals longer than a second: an upper bound, since one second of each may have broken."""
    unknown_s: float = 0.0
    not_promised_s: float = 0.0
    aggressor_s: float = 0.0

    @property
    def kept_share(self) -> float | None:
        """Kept part of the judged seconds; None when none was judged. Unknown seconds are in neither part.

        >>> VfTally("vf0", kept_s=999.0, broken_s=1.0, unknown_s=50.0).kept_share
        0.999
        """
        judged = self.kept_s + self.broken_s
        return self.kept_s / judged if judged > 0 else None

    def budget_left(self, target: float = TARGET) -> float | None:
        """Part of the error budget that is left: 1 is all of it, below 0 it is overspent; None when nothing was judged.

        >>> round(VfTally("vf0", kept_s=9995.0, broken_s=5.0).budget_left(0.999), 3)
        0.5
        """
        judged = self.kept_s + self.broken_s
        allowed = (1.0 - target) * judged
        if judged <= 0:
            return None
        return 1.0 - self.broken_s / allowed if allowed > 0 else (1.0 if self.broken_s == 0 else float("-inf"))


class Tally:
    """Seconds of the VFs of one RNIC."""

    def __init__(self, vfs: Iterable[str] = ()) -> None:
        self.vfs: dict[str, VfTally] = {vf: VfTally(vf) for vf in vfs}

    def add(self, verdict: Verdict, seconds: float | None = None, unknown: bool = False) -> None:
        """Count a verdict.

        Parameters
        ----------
        seconds
            Length to count; by default the verdict's own interval.
        unknown
            The caller knows more than the verdict: the interval counts as unknown for every VF.
        """
        length = verdict.interval_s if seconds is None else seconds
        for name, found in verdict.vfs.items():
            tally = self.vfs.setdefault(name, VfTally(name))
            if unknown or found.state is State.UNKNOWN:
                tally.unknown_s += length
            elif found.state is State.BROKEN:
                tally.broken_s += length
                tally.estimated_s += length if verdict.estimated else 0.0
            elif found.state is State.KEPT:
                tally.kept_s += length
            else:
                tally.not_promised_s += length
        if not unknown:
            for name in verdict.aggressors:
                self.vfs[name].aggressor_s += length
        self._absent(set(verdict.vfs), length)

    def missing(self, seconds: float) -> None:
        """Count seconds without any reading: unknown for every VF, never kept."""
        self._absent(set(), seconds)

    def _absent(self, present: set[str], seconds: float) -> None:
        for name, tally in self.vfs.items():
            if name not in present:
                tally.unknown_s += seconds

    def rows(self, target: float = TARGET) -> list[dict[str, float | str | None]]:
        """One row per VF, the most broken seconds first."""
        order = sorted(self.vfs.values(), key=lambda tally: (-tally.broken_s, _number(tally.vf)))
        return [
            {
                "vf": tally.vf,
                "kept_s": round(tally.kept_s, 3),
                "broken_s": round(tally.broken_s, 3),
                "estimated_s": round(tally.estimated_s, 3),
                "unknown_s": round(tally.unknown_s, 3),
                "not_promised_s": round(tally.not_promised_s, 3),
                "aggressor_s": round(tally.aggressor_s, 3),
                "kept_share": tally.kept_share,
                "budget_left": tally.budget_left(target),
            }
            for tally in order
        ]


def _number(vf: str) -> tuple[int, str]:
    return (int(vf[2:]), vf) if vf[2:].isdigit() else (1 << 31, vf)
