"""What the action `apply-mask-plan` does beyond other remedies: it is bound to a plan, sends its operations, and is verified by them."""

from datetime import datetime
from typing import Any
from uuid import UUID

from wallwatch_backend.kit.database import ReadSession, WriteSession
from wallwatch_backend.remedies.models import CommandRow, RemedyRow
from wallwatch_backend.remedies.orders.action_hooks import ActionHooks, Attachment, Samples
from wallwatch_backend.remedies.plans import binding, repository
from wallwatch_backend.remedies.plans.agent_uploads import answered
from wallwatch_backend.remedies.plans.outcome import reduction_shares


class MaskPlanHooks(ActionHooks):
    batchable = False  # the plan may expire before the command is signed

    async def bound_params(self, session: WriteSession, host: str, pci: str | None, params: dict[str, Any]) -> dict[str, Any]:
        return await binding.bound_params(session, host, pci, params)

    async def on_ordered(self, session: WriteSession, remedy: RemedyRow) -> None:
        await binding.note_order(session, remedy)

    async def check_before_apply(self, session: ReadSession, remedy: RemedyRow) -> None:
        await binding.check_still_valid(session, remedy)

    async def on_result(self, session: WriteSession, remedy: RemedyRow, command: CommandRow) -> None:
        await answered(session, remedy, command)

    async def attachment(self, session: ReadSession, command_id: UUID) -> Attachment | None:
        return await repository.operations_for(session, command_id)

    async def samples(self, session: ReadSession, remedy: RemedyRow, since: datetime) -> Samples:
        return await reduction_shares(session, remedy, since)
