"""One transaction of the router: which webhook gets which event, and what each due group sends."""

from collections.abc import Awaitable, Callable, Collection, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from wallwatch_backend.kit.database import ReadSession, WriteSession
from wallwatch_backend.kit.matchers import Matcher, labels_of, matches
from wallwatch_backend.notify.formats.bodies import notification_body
from wallwatch_backend.notify.formats.notification import Notification, about
from wallwatch_backend.notify.models import DeliveryRow, EventRow, GroupRow, MemberRow, WebhookRow
from wallwatch_backend.notify.routing import repository
from wallwatch_backend.notify.routing.rules import NoEvent, decide, due_at, repeat_at
from wallwatch_backend.notify.schemas import GROUP_EVENT, INCIDENT_EVENTS, REPEATED_EVENT, EventType, Format
from wallwatch_backend.notify.states import DeliveryState, NotedState

_INCIDENT_EVENTS = frozenset(str(event) for event in INCIDENT_EVENTS)

IncidentStates = Callable[[ReadSession, Collection[UUID]], Awaitable[dict[UUID, str]]]
"""Returns the present states of those incidents that exist; incidents belong to a context above this one."""


def is_immediate(webhook: WebhookRow) -> bool:
    """Whether every event is sent by itself and at once, without waiting for others of a group."""
    return not webhook.group_by and webhook.group_wait_s == 0 and webhook.group_interval_s == 0


def group_of(webhook: WebhookRow, incident: dict[str, Any]) -> tuple[str, dict[str, str]]:
    """Key and labels of the group to which an incident belongs; without `group_by` each incident is its own group."""
    if not webhook.group_by:
        return f"incident={incident['id']}", {}
    values = labels_of(incident)
    labels = {name: values[name][0] if name in values else "" for name in webhook.group_by}
    return ",".join(f"{name}={value!r}" for name, value in sorted(labels.items())), labels


class RoutingBatch:
    """Reads what it needs first (`load`), collects changes, writes them last (`write`). The caller commits.

    A `MemberRow` is what one webhook was sent of one incident; members form groups, and a group sends one notification.
    """

    def __init__(
        self, session: WriteSession, public_url: str | None, webhooks: Sequence[WebhookRow], incident_states: IncidentStates
    ) -> None:
        self._session, self._public_url, self._incident_states = session, public_url, incident_states
        self._webhooks = {webhook.id: webhook for webhook in webhooks if not _INCIDENT_EVENTS.isdisjoint(webhook.events)}
        self._matchers = {webhook.id: [Matcher.model_validate(m) for m in webhook.matchers] for webhook in self._webhooks.values()}
        self._members: dict[tuple[UUID, UUID], MemberRow] = {}
        self._groups: dict[tuple[UUID, str], GroupRow] = {}
        self._new_groups: list[GroupRow] = []
        self._new_members: dict[tuple[UUID, UUID], MemberRow] = {}
        self._new_group_ids: dict[tuple[UUID, UUID], UUID] = {}  # of members that change their group
        self._removed: set[tuple[UUID, UUID]] = set()
        self._shrunk_groups: set[UUID] = set()  # lost a member, so may be empty
        self._deliveries: list[DeliveryRow] = []

    async def load(self, events: Sequence[EventRow]) -> None:
        """Read the members and groups of these events' incidents."""
        for member in await repository.members_of_incidents(self._session, {event.incident_id for event in events}):
            self._members[member.webhook_id, member.incident_id] = member
        keys = {(webhook.id, group_of(webhook, event.data)[0]) for webhook in self._webhooks.values() for event in events}
        for group in await repository.groups_by_key(self._session, keys):
            self._groups[group.webhook_id, group.key] = group

    def route(self, event: EventRow, at: datetime) -> None:
        """Offer one event to every webhook."""
        labels = labels_of(event.data)
        for webhook in self._webhooks.values():
            member = self._members.get((webhook.id, event.incident_id))
            if member is None and (not matches(self._matchers[webhook.id], labels) or _resolved_while_suppressed(event)):
                continue
            self._route_to(webhook, member, event, at)

    def _route_to(self, webhook: WebhookRow, member: MemberRow | None, event: EventRow, at: datetime) -> None:
        state = str(event.data.get("state", NotedState.open))
        decision = decide(
            EventType(event.event),
            state,
            frozenset(webhook.events),
            tracked=member is not None,
            notified=member is not None and member.notified,
            pending=member.event if member else None,
            last_state=member.state if member else None,
        )
        if decision is NoEvent.forget:
            if member is not None:
                self._remove(member)
            return
        if decision is NoEvent.keep and state == NotedState.resolved:
            return
        member, group = self._member_in_group(webhook, member, event)
        member.state, member.data, member.changed_at = state, event.data, event.at
        if state == NotedState.suppressed:
            member.event = None
        elif decision is not NoEvent.keep and is_immediate(webhook):
            self._add_delivery(webhook, group, [member], str(decision), event.at)
        elif decision is not NoEvent.keep:
            member.event = str(decision)
            group.due_at = due_at(at, group.last_sent_at, group.due_at, webhook.group_wait_s, webhook.group_interval_s)

    def _member_in_group(self, webhook: WebhookRow, member: MemberRow | None, event: EventRow) -> tuple[MemberRow, GroupRow]:
        """The member, in the group of its present labels; both are created if needed."""
        key, labels = group_of(webhook, event.data)
        group = self._groups.get((webhook.id, key))
        if group is None:
            group = GroupRow(id=uuid4(), webhook_id=webhook.id, key=key, labels=labels, due_at=None, last_sent_at=None, repeat_at=None)
            self._groups[webhook.id, key] = group
            self._new_groups.append(group)
        identity = (webhook.id, event.incident_id)
        if member is None:
            member = MemberRow(webhook_id=webhook.id, incident_id=event.incident_id, group_id=group.id, notified=False, event=None)
            self._members[identity] = self._new_members[identity] = member
        elif member.group_id != group.id:
            self._shrunk_groups |= {member.group_id, group.id}
            self._new_group_ids[identity] = group.id
        return member, group

    async def send_due(self, group: GroupRow, at: datetime) -> None:
        """Add the notification of a due group, unless none of its incidents is still reportable."""
        webhook = self._webhooks.get(group.webhook_id)
        if webhook is None:  # disabled meanwhile
            group.due_at = group.repeat_at = None
            return
        members = await self._reportable_members(group)
        changed = [member for member in members if member.event is not None]
        unchanged = [member for member in members if member.notified and member.event is None]
        repeated = not changed and group.repeat_at is not None and group.repeat_at <= at
        if changed or (repeated and unchanged):
            event = GROUP_EVENT if webhook.group_by else str(changed[0].event) if changed else REPEATED_EVENT
            self._add_delivery(webhook, group, changed + unchanged, event, at, repeated=repeated)
            return
        group.due_at = None
        if repeated:  # all are suppressed or gone; those that were sent before may be sent again after the silence
            group.repeat_at = repeat_at(at, webhook.repeat_interval_s, any_unresolved=True)

    async def _reportable_members(self, group: GroupRow) -> list[MemberRow]:
        """Members that may be sent: incidents suppressed or deleted meanwhile, by whatever means, are left out."""
        members = await repository.members_of_group(self._session, group.id)
        states = await self._incident_states(self._session, [member.incident_id for member in members])
        reportable = []
        for member in members:
            state = states.get(member.incident_id)
            if member.event == EventType.resolved:
                reportable.append(member)
            elif state is None or state == NotedState.resolved:
                self._remove(member)
            elif state == NotedState.suppressed:
                member.state, member.event = state, None
            else:
                reportable.append(member)
        return reportable

    def _add_delivery(
        self, webhook: WebhookRow, group: GroupRow, members: Sequence[MemberRow], event: str, at: datetime, *, repeated: bool = False
    ) -> None:
        notification = Notification(
            event=event,
            at=at,
            receiver=webhook.name,
            webhook_id=webhook.id,
            incidents=[member.data for member in members],
            group_labels=group.labels,
            grouped=bool(webhook.group_by),
            repeated=repeated,
            public_url=self._public_url,
            repeat_interval_s=webhook.repeat_interval_s,
        )
        self._deliveries.append(
            DeliveryRow(
                webhook_id=webhook.id,
                event=event,
                body=notification_body(Format(webhook.format), notification),
                state=DeliveryState.pending,
                next_attempt_at=at,
                subject=group.key,
                about=about(notification),
            )
        )
        unresolved = False
        for member in members:
            member.event, member.notified = None, True
            if member.state == NotedState.resolved:
                self._remove(member)
            else:
                unresolved = True
        group.due_at, group.last_sent_at = None, at
        group.repeat_at = repeat_at(at, webhook.repeat_interval_s, unresolved)

    def _remove(self, member: MemberRow) -> None:
        identity = (member.webhook_id, member.incident_id)
        self._members.pop(identity, None)
        self._shrunk_groups.add(member.group_id)
        if self._new_members.pop(identity, None) is None:
            self._removed.add(identity)
            self._session.expunge(member)

    async def write(self) -> None:
        """Write all changes and delete groups without members."""
        if self._removed:
            await repository.delete_members(self._session, self._removed)
        await repository.add_all(self._session, self._new_groups)  # before the members that refer to them
        for identity, group_id in self._new_group_ids.items():
            if identity in self._members:
                self._members[identity].group_id = group_id
        await repository.add_all(self._session, self._new_members.values(), self._deliveries)
        if self._shrunk_groups:
            await repository.delete_empty_groups(self._session, self._shrunk_groups)


def _resolved_while_suppressed(event: EventRow) -> bool:
    """The resolution of an incident that nobody was notified of, because a silence or a remedy suppressed it."""
    return event.event == EventType.resolved and bool(event.data.get("suppressed_by") or event.data.get("inhibited_by"))
