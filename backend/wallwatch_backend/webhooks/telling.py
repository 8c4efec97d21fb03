"""One transaction's work of the router: who hears what of each event, and what each due group is told."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from wallwatch_backend.kit.database import WriteSession
from wallwatch_backend.kit.matchers import Matcher, labels_of, matches
from wallwatch_backend.webhooks import routing_repository as repository
from wallwatch_backend.webhooks.formats.bodies import body_of
from wallwatch_backend.webhooks.formats.notification import Notification, about
from wallwatch_backend.webhooks.hearing import Hears, decide
from wallwatch_backend.webhooks.models import DeliveryRow, EventRow, GroupRow, MemberRow, WebhookRow
from wallwatch_backend.webhooks.schemas import GROUP_EVENT, INCIDENT_EVENTS, REPEATED_EVENT, EventType, Format
from wallwatch_backend.webhooks.timing import due_at, repeat_at

_INCIDENTS = frozenset(str(event) for event in INCIDENT_EVENTS)


def is_immediate(webhook: WebhookRow) -> bool:
    """Every event by itself and at once: nothing has to wait for company."""
    return not webhook.group_by and webhook.group_wait_s == 0 and webhook.group_interval_s == 0


def group_of(webhook: WebhookRow, incident: dict[str, Any]) -> tuple[str, dict[str, str]]:
    """Key and labels of the group to which an incident belongs; without `group_by` it is a group of its own."""
    if not webhook.group_by:
        return f"incident={incident['id']}", {}
    found = labels_of(incident)
    labels = {name: found[name][0] if name in found else "" for name in webhook.group_by}
    return ",".join(f"{name}={value!r}" for name, value in sorted(labels.items())), labels


class Telling:
    """Reads what it needs at the beginning, writes at the end (`finish`), and leaves the commit to whoever opened the session."""

    def __init__(self, session: WriteSession, public_url: str | None, webhooks: Sequence[WebhookRow]) -> None:
        self._session, self._public_url = session, public_url
        self._webhooks = {webhook.id: webhook for webhook in webhooks if not _INCIDENTS.isdisjoint(webhook.events)}
        self._matchers = {webhook.id: [Matcher.model_validate(one) for one in webhook.matchers] for webhook in self._webhooks.values()}
        self._members: dict[tuple[UUID, UUID], MemberRow] = {}
        self._groups: dict[tuple[UUID, str], GroupRow] = {}
        self._new_groups: list[GroupRow] = []
        self._new_members: dict[tuple[UUID, UUID], MemberRow] = {}
        self._moved: dict[tuple[UUID, UUID], UUID] = {}  # into which group
        self._gone: set[tuple[UUID, UUID]] = set()
        self._left: set[UUID] = set()  # groups that lost a member
        self._deliveries: list[DeliveryRow] = []

    async def load(self, events: Sequence[EventRow]) -> None:
        """Read what webhooks know of these events' incidents."""
        for member in await repository.members_of_incidents(self._session, {event.incident_id for event in events}):
            self._members[member.webhook_id, member.incident_id] = member
        keys = {(webhook.id, group_of(webhook, event.data)[0]) for webhook in self._webhooks.values() for event in events}
        for group in await repository.groups_by_key(self._session, keys):
            self._groups[group.webhook_id, group.key] = group

    def hear(self, event: EventRow, at: datetime) -> None:
        """Offer one event to every webhook."""
        labels = labels_of(event.data)
        for webhook in self._webhooks.values():
            member = self._members.get((webhook.id, event.incident_id))
            if member is None and (not matches(self._matchers[webhook.id], labels) or _ended_in_silence(event)):
                continue
            self._offer(webhook, member, event, at)

    def _offer(self, webhook: WebhookRow, member: MemberRow | None, event: EventRow, at: datetime) -> None:
        state = str(event.data.get("state", "open"))
        heard = decide(
            EventType(event.event),
            state,
            frozenset(webhook.events),
            known=member is not None,
            told=member is not None and member.told,
            pending=member.event if member else None,
            last_state=member.state if member else None,
        )
        if heard is Hears.forget:
            if member is not None:
                self._forget(member)
            return
        if heard is Hears.nothing and state == "resolved":
            return
        member, group = self._placed(webhook, member, event)
        member.state, member.data, member.changed_at = state, event.data, event.at
        if state == "suppressed":
            member.event = None
        elif heard is not Hears.nothing and is_immediate(webhook):
            self._tell_members(webhook, group, [member], str(heard), event.at)
        elif heard is not Hears.nothing:
            member.event = str(heard)
            group.due_at = due_at(at, group.last_sent_at, group.due_at, webhook.group_wait_s, webhook.group_interval_s)

    def _placed(self, webhook: WebhookRow, member: MemberRow | None, event: EventRow) -> tuple[MemberRow, GroupRow]:
        """The member, in the group that its labels name now."""
        key, labels = group_of(webhook, event.data)
        group = self._groups.get((webhook.id, key))
        if group is None:
            group = GroupRow(id=uuid4(), webhook_id=webhook.id, key=key, labels=labels, due_at=None, last_sent_at=None, repeat_at=None)
            self._groups[webhook.id, key] = group
            self._new_groups.append(group)
        identity = (webhook.id, event.incident_id)
        if member is None:
            member = MemberRow(webhook_id=webhook.id, incident_id=event.incident_id, group_id=group.id, told=False, event=None)
            self._members[identity] = self._new_members[identity] = member
        elif member.group_id != group.id:
            self._left |= {member.group_id, group.id}
            self._moved[identity] = group.id
        return member, group

    async def tell(self, group: GroupRow, at: datetime) -> None:
        """Tell what a due group has to say, unless nothing of it stands any more."""
        webhook = self._webhooks.get(group.webhook_id)
        if webhook is None:  # switched off meanwhile
            group.due_at = group.repeat_at = None
            return
        members = await self._standing(group)
        changed = [member for member in members if member.event is not None]
        told_before = [member for member in members if member.told and member.event is None]
        repeated = not changed and group.repeat_at is not None and group.repeat_at <= at
        if changed or (repeated and told_before):
            event = GROUP_EVENT if webhook.group_by else str(changed[0].event) if changed else REPEATED_EVENT
            self._tell_members(webhook, group, changed + told_before, event, at, repeated=repeated)
            return
        group.due_at = None
        if repeated:  # all are silenced or gone; those that were told of may be heard of again after the silence
            group.repeat_at = repeat_at(at, webhook.repeat_interval_s, anyone_unresolved=True)

    async def _standing(self, group: GroupRow) -> list[MemberRow]:
        """Members that may be told of: what was suppressed or removed meanwhile, by whatever means, is left out."""
        members = await repository.members_of_group(self._session, group.id)
        states = await repository.states_of(self._session, [member.incident_id for member in members])
        standing = []
        for member in members:
            state = states.get(member.incident_id)
            if member.event == EventType.resolved:
                standing.append(member)
            elif state is None or state == "resolved":
                self._forget(member)
            elif state == "suppressed":
                member.state, member.event = state, None
            else:
                standing.append(member)
        return standing

    def _tell_members(
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
        )
        body = body_of(Format(webhook.format), notification)
        self._deliveries.append(
            DeliveryRow(
                webhook_id=webhook.id,
                event=event,
                body=body,
                state="pending",
                next_attempt_at=at,
                subject=group.key,
                about=about(notification),
            )
        )
        unresolved = False
        for member in members:
            member.event, member.told = None, True
            if member.state == "resolved":
                self._forget(member)
            else:
                unresolved = True
        group.due_at, group.last_sent_at = None, at
        group.repeat_at = repeat_at(at, webhook.repeat_interval_s, unresolved)

    def _forget(self, member: MemberRow) -> None:
        identity = (member.webhook_id, member.incident_id)
        self._members.pop(identity, None)
        self._left.add(member.group_id)
        if self._new_members.pop(identity, None) is None:
            self._gone.add(identity)
            self._session.expunge(member)

    async def finish(self) -> None:
        """Write everything; groups in which nobody is left go."""
        if self._gone:
            await repository.delete_members(self._session, self._gone)
        await repository.add_all(self._session, self._new_groups)  # before the members that refer to them
        for identity, group_id in self._moved.items():
            if identity in self._members:
                self._members[identity].group_id = group_id
        await repository.add_all(self._session, self._new_members.values(), self._deliveries)
        if self._left:
            await repository.delete_empty_groups(self._session, self._left)


def _ended_in_silence(event: EventRow) -> bool:
    """The end of something of which nobody was told because it was suppressed, by a silence or as a remedy's doing."""
    return event.event == EventType.resolved and bool(event.data.get("suppressed_by") or event.data.get("inhibited_by"))
