"""SLO classes and rules."""

from wallwatch_backend.isolation.slo.schemas import NewSloClass, SloClass, SloPreview, SloRules, SloValues, StoredSloRules
from wallwatch_backend.kit.access import Caller
from wallwatch_backend.kit.database import ReadSession, WriteSession


async def list_classes(session: ReadSession) -> list[SloClass]:
    raise NotImplementedError


async def create_class(session: WriteSession, caller: Caller, body: NewSloClass) -> SloClass:
    raise NotImplementedError


async def update_class(session: WriteSession, caller: Caller, name: str, body: SloValues, if_match: str | None) -> SloClass:
    raise NotImplementedError


async def delete_class(session: WriteSession, caller: Caller, name: str, if_match: str | None) -> None:
    raise NotImplementedError


async def get_rules(session: ReadSession) -> StoredSloRules:
    raise NotImplementedError


async def replace_rules(session: WriteSession, caller: Caller, body: SloRules, if_match: str | None) -> StoredSloRules:
    raise NotImplementedError


async def preview(session: ReadSession, body: SloRules) -> SloPreview:
    raise NotImplementedError
