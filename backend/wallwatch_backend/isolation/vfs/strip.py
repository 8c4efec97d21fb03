"""The strip: one cell per VF and step, from minutes and broken intervals. Pure."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from wallwatch.domain.isolation.verdicts import State
from wallwatch_backend.isolation.vfs.schemas import Cell

MINUTE_S = 60


class Cells:
    """Cells by VF and begin; what is unknown has none."""

    def __init__(self, step_s: int) -> None:
        self._step_s = step_s
        self._cells: dict[int, dict[int, Cell]] = {}
        self.who: dict[int, tuple[str, str]] = {}
        """Pod and tenant that held a VF last."""

    def add_minutes(self, row: Any) -> None:
        """Count the sums of a step of whole minutes. In shorter steps its state is that of every step without a broken interval."""
        begin = int(row.at.timestamp())
        self.who[row.vf] = (row.pod, row.tenant)
        if self._step_s >= MINUTE_S:
            state = State.BROKEN if row.broken_s > 0 else quiet_state(row)
            self._cell(row.vf, begin, state, row.broken_s, row.aggressor_s)
            return
        for at in range(begin, begin + MINUTE_S, self._step_s):
            self._cell(row.vf, at, quiet_state(row), 0.0, 0.0)

    def add_interval(self, vf: int, end: datetime, interval_s: float, suffered: bool) -> None:
        """Count a broken interval in steps shorter than a minute, shared among the steps that it touches."""
        until = end.timestamp()
        at = until - interval_s
        while at < until - 1e-6:
            begin = int(at // self._step_s) * self._step_s
            stop = min(until, begin + self._step_s)
            seconds = stop - at
            if suffered:
                self._cell(vf, begin, State.BROKEN, seconds, 0.0)
            else:
                self._cell(vf, begin, None, 0.0, seconds)
            at = stop

    def _cell(self, vf: int, begin: int, state: State | None, broken_s: float, aggressor_s: float) -> None:
        cells = self._cells.setdefault(vf, {})
        cell = cells.get(begin)
        if cell is None:
            fields = {"state": state or State.NOT_PROMISED, "broken_s": broken_s, "aggressor_s": aggressor_s}
            cells[begin] = Cell.model_validate({"at": datetime.fromtimestamp(begin, UTC), **fields})
            return
        cell.broken_s += broken_s
        cell.aggressor_s += aggressor_s
        if state is State.BROKEN:
            cell.state = "broken"

    def of(self, vf: int) -> list[Cell]:
        return [cell for _, cell in sorted(self._cells.get(vf, {}).items())]

    @property
    def vfs(self) -> Iterable[int]:
        return sorted(self._cells)


def quiet_state(row: Any) -> State:
    """The state of a step apart from its broken seconds: unknown wins over kept, because a gap is never counted as kept."""
    if row.unknown_s > 0:
        return State.UNKNOWN
    return State.KEPT if row.kept_s > 0 else State.NOT_PROMISED
