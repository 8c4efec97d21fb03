"""Minutes whose samples changed and whose aggregates have to be computed again, and the RNICs for which late ones have to be."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from wallwatch.jobs.late_minutes import together
from wallwatch.store.encode import LateRnics


class TouchedMinutes:
    """Minutes (counted from 1970) by table.

    Whoever writes samples knows the RNICs of those that were late when they were read. Others may be late as well by the time their minute
    is computed: after an outage of the database, for example. So RNICs count only if they stand for all that was noted of a minute.
    """

    def __init__(self) -> None:
        self.minutes: dict[str, set[int]] = {}
        self._rnics: dict[tuple[str, int], set[int] | None] = {}
        """By table and hour, of samples that were late when they were noted."""
        self._of_any: dict[str, set[int]] = {}
        """Minutes of samples that were noted without their RNICs."""

    def add(self, table: str, minutes: Iterable[int], late: LateRnics | None = None) -> None:
        """Note minutes; without `late`, samples of any RNIC may have changed."""
        late = late or LateRnics()
        added = set(minutes)
        self.minutes.setdefault(table, set()).update(added)
        self._of_any.setdefault(table, set()).update(minute for minute in added if minute >= late.before)
        for hour in {minute // 60 for minute in added if minute < late.before}:
            self._join(table, hour, late.of_hour.get(hour))

    def merge(self, other: TouchedMinutes) -> None:
        """Note all that another has."""
        for table, minutes in other.minutes.items():
            self.minutes.setdefault(table, set()).update(minutes)
        for table, minutes in other._of_any.items():
            self._of_any.setdefault(table, set()).update(minutes)
        for (table, hour), rnics in other._rnics.items():
            self._join(table, hour, rnics)

    def _join(self, table: str, hour: int, rnics: Iterable[int] | None) -> None:
        key = table, hour
        self._rnics[key] = together(self._rnics.get(key, set()), rnics)

    def hours_before(self, recent: int) -> Mapping[tuple[str, int], tuple[set[int], set[int] | None]]:
        """Minutes before this one by table and hour, each hour with the RNICs to compute; None stands for any RNIC."""
        hours: dict[tuple[str, int], set[int]] = {}
        for table, minutes in self.minutes.items():
            for minute in minutes:
                if minute < recent:
                    hours.setdefault((table, minute // 60), set()).add(minute)
        return {key: (minutes, self._rnics_of(key, minutes)) for key, minutes in hours.items()}

    def _rnics_of(self, key: tuple[str, int], minutes: set[int]) -> set[int] | None:
        return self._rnics.get(key) if minutes.isdisjoint(self._of_any.get(key[0], ())) else None
