"""The signals of a symptom over time, as its rules judged them: derived once more from the stored telemetry."""

from asyncio import to_thread
from collections.abc import Sequence
from datetime import datetime, timedelta

from wallwatch.domain.catalogue.load import known_signals
from wallwatch.domain.symptoms.signal_history import WARM_UP_S, SignalHistory, conditions_of, signal_history
from wallwatch.domain.telemetry.decode import Message
from wallwatch_backend.fleet.rnics.message_repository import messages_of_host
from wallwatch_backend.fleet.rnics.schemas import SignalSeries, SignalSeriesField
from wallwatch_backend.fleet.rnics.series import steps
from wallwatch_backend.fleet.rnics.service import identity_of, interval
from wallwatch_backend.kit.database import ReadSession

LONGEST = timedelta(hours=3)
MOST_MESSAGES = 20_000
"""Of each measurement; about a second of CPU in all."""


async def get_signals(
    session: ReadSession, host: str, pci: str, symptom: str, since: datetime | None, until: datetime | None
) -> SignalSeries:
    """See the endpoint. A longer interval is cut at its end, and so is one with too many samples."""
    start, end = interval(since, until)
    end = min(end, start + LONGEST)
    identity = await identity_of(session, host, pci)
    messages = await messages_of_host(session, identity, start - timedelta(seconds=WARM_UP_S), end, MOST_MESSAGES)
    if len(messages) >= MOST_MESSAGES:
        end = min(end, datetime.fromtimestamp(messages[-1].at_ns / 1e9, start.tzinfo))
    histories = await to_thread(_histories, messages, pci, symptom, start)
    return _in_steps(histories, start, end)


def _histories(messages: list[Message], pci: str, symptom: str, start: datetime) -> list[SignalHistory]:
    return signal_history(messages, pci, conditions_of(symptom), round(start.timestamp() * 1000))


def _in_steps(histories: Sequence[SignalHistory], start: datetime, end: datetime) -> SignalSeries:
    """The last value of each step."""
    step_s, times = steps(start, end, None)
    first_ms = round(times[0].timestamp() * 1000) if times else 0
    values: dict[str, list[float | None]] = {}
    for history in histories:
        row: list[float | None] = [None] * len(times)
        for at_ms, value in zip(history.times_ms, history.values, strict=True):
            index = (at_ms - first_ms) // (step_s * 1000)
            if 0 <= index < len(row):
                row[index] = value
        values[history.signal] = row
    fields = [
        SignalSeriesField(
            name=each.signal,
            label=known_signals()[each.signal][0],
            unit=known_signals()[each.signal][1],
            window_s=each.window_s,
            statistic=each.statistic,
        )
        for each in histories
    ]
    return SignalSeries(**{"from": start, "to": end}, step_s=step_s, fields=fields, times=times, values=values)
