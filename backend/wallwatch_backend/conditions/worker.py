"""Notifies webhooks of conditions that begin and end. One replica does it."""

from collections.abc import Awaitable, Callable, Collection
from datetime import datetime
from itertools import islice

from wallwatch_backend.conditions import agents, declines, forecasts, policies, rules
from wallwatch_backend.conditions.kinds import AGENT, CERTIFICATE, DECLINE, FORECAST, POLICY, Condition, Kind
from wallwatch_backend.conditions.schemas import EndedData
from wallwatch_backend.kit import clock
from wallwatch_backend.kit.background_tasks import work_through
from wallwatch_backend.kit.database import Database, ReadSession, WriteSession
from wallwatch_backend.kit.matchers import Matcher, matches
from wallwatch_backend.notify.events import OrderEvent
from wallwatch_backend.notify.models import WebhookRow
from wallwatch_backend.notify.routing import condition_events
from wallwatch_backend.policies.reports.standing import Standing

PERIOD_S = 30.0
"""Forecasts come every minute, and the other conditions last for minutes at least."""
MOST = 200
"""Events per transaction. When a whole network fails, receivers get what they can take, the rest in the next rounds."""

Read = Callable[[ReadSession, datetime, Collection[str]], Awaitable[list[Condition]]]
"""Reads a kind's conditions at a time, given the subjects that a webhook knows to be in one."""


class ConditionNotices:
    """Runs on one replica at a time."""

    def __init__(self, database: Database, standing: Standing) -> None:
        self._database = database
        since = clock.now()
        self._readers: dict[Kind, Read] = {
            FORECAST: lambda session, at, _: forecasts.read(session, at),
            DECLINE: declines.read,
            POLICY: lambda session, at, _: policies.read(session, at, standing),
            AGENT: lambda session, at, _: agents.lost(session, at, since),
            CERTIFICATE: lambda session, at, _: agents.late_certificates(session, at),
        }

    async def run(self) -> None:
        """Notify until cancelled."""
        await work_through(self.process_batch, MOST, PERIOD_S)

    async def process_batch(self) -> int:
        """Write the events that are due, and those to repeat, at most `MOST` per kind; return the number of the kind that had most."""
        return max([await self._process(kind, read) for kind, read in self._readers.items()])

    async def _process(self, kind: Kind, read: Read) -> int:
        async with self._database.write() as session:
            webhooks = await condition_events.subscribed(session, kind.begin)
            if not webhooks:
                return 0
            known = await condition_events.known(session, [webhook.id for webhook in webhooks], kind.name, kind.begin)
            at = clock.now()
            conditions = {condition.subject: condition for condition in await read(session, at, set().union(*known.values()))}
            sent = 0
            for webhook in webhooks:
                told = known.get(webhook.id, {})
                for event in islice(_events(session, kind, webhook, conditions, told, at), MOST - sent):
                    condition_events.add(session, webhook, event)
                    sent += 1
                lasting = {subject: delivery for subject, delivery in told.items() if rules.lasts(conditions.get(subject))}
                again = await condition_events.due_again(session, webhook, lasting, at, MOST - sent)
                for subject, delivery in again.items():
                    await condition_events.repeat(session, webhook, delivery, _begin(session, kind, conditions[subject], at))
                sent += len(again)
                if sent == MOST:
                    break
            if sent:
                await condition_events.wake(session)
            return sent


def _events(
    session: WriteSession, kind: Kind, webhook: WebhookRow, conditions: dict[str, Condition], known: Collection[str], at: datetime
) -> list[OrderEvent]:
    """What one webhook hears of now: ends first, whatever its matchers are by now, and then what begins and matches."""
    matchers = [Matcher.model_validate(each) for each in webhook.matchers]
    ends = [_end(session, kind, subject, conditions.get(subject), at) for subject in rules.ended(conditions, known)]
    begins = [_begin(session, kind, each, at) for each in rules.begun(conditions, known) if matches(matchers, each.labels)]
    return [*ends, *begins]


def _begin(session: WriteSession, kind: Kind, condition: Condition, at: datetime) -> OrderEvent:
    labels = kind.labels(condition.subject)
    return OrderEvent(
        event=kind.begin,
        outcome="bad",
        over=False,
        at=at,
        began_at=condition.since,
        kind=kind.name,
        id=condition.subject,
        action=kind.action,
        place=condition.subject,
        text=condition.text,
        data=condition.data,
        labels=labels,
        facts={name: next(iter(values)) for name, values in condition.labels.items() if name not in labels},
        url=_url(session, condition.path),
    )


def _end(session: WriteSession, kind: Kind, subject: str, condition: Condition | None, at: datetime) -> OrderEvent:
    text = condition.text if condition is not None else f"{subject} {kind.ended}."
    return OrderEvent(
        event=kind.end,
        outcome="neutral" if condition is not None else kind.end_outcome,
        over=True,
        at=at,
        began_at=at,
        kind=kind.name,
        id=subject,
        action=kind.action,
        place=subject,
        text=text,
        data=EndedData(kind=kind.name, subject=subject, text=text).model_dump(mode="json"),
        labels=kind.labels(subject),
        url=_url(session, condition.path) if condition is not None else "",
    )


def _url(session: WriteSession, path: str) -> str:
    public_url = session.info.get("public_url")
    return f"{public_url}{path}" if public_url else ""
