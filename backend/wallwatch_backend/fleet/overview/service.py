"""The whole fleet in columns."""

from collections.abc import Sequence
from typing import Any

from wallwatch.store.state import stale_after_s
from wallwatch_backend.fleet.overview import repository
from wallwatch_backend.kit import clock
from wallwatch_backend.kit.database import ReadSession

_DIGITS = {"headroom": 4, "tx_gbps": 2, "rx_gbps": 2}  # nobody sees more of a tile, and each digit is sent 40,000 times


def columns_of(rows: Sequence[Sequence[Any]]) -> dict[str, list[Any]]:
    """Turn rows of the repository into the columns of `FleetColumns`.

    >>> columns_of([("h1", "", "0000:01:00.0", None, None, None, None, None, None, True, None, 1.234)])["rx_gbps"]
    [1.23]
    """
    by_name: dict[str, list[Any]] = {
        name: list(column)
        for name, column in zip(repository.NAMES, zip(*rows, strict=True) if rows else [()] * len(repository.NAMES), strict=True)
    }
    for name in ("symptoms", "recent"):
        by_name[name] = [sorted(symptoms) if symptoms else [] for symptoms in by_name[name]]
    by_name["rack"] = [rack or None for rack in by_name["rack"]]  # the store writes an unknown rack as empty text
    for name, digits in _DIGITS.items():
        by_name[name] = [None if value is None else round(value, digits) for value in by_name[name]]
    return by_name


async def whole_fleet(session: ReadSession, sampling_interval_s: float, seq: int) -> dict[str, Any]:
    """Return the body of `Fleet`; `seq` is the number of the last change, read before.

    A row that changes between the two queries is sent again by the stream, never missed.
    """
    rows = await repository.all_rows(session)
    return {"as_of": clock.now(), "seq": seq, "stale_after_s": stale_after_s(sampling_interval_s), "columns": columns_of(rows)}
