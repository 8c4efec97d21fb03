"""Places a batch of functions with the models that are active."""

from wallwatch_backend.contention.models.occupants import known_functions
from wallwatch_backend.contention.placements.errors import UnusableBatch
from wallwatch_backend.contention.placements.planning import Knowledge, plan
from wallwatch_backend.contention.placements.schemas import PlacementPlan, PlacementRequest
from wallwatch_backend.kit.database import ReadSession
from wallwatch_backend.kit.process_pool import run_in_process

PLACING_S = 60.0
"""500 functions of 36 kinds take 10 s of CPU time at most, 2 s of them for the integer program."""


async def place(session: ReadSession, body: PlacementRequest) -> PlacementPlan:
    known = await known_functions(session, (function.function for function in body.functions), body.nic_model, body.firmware)
    knowledge = {
        name: Knowledge(row.model, row.own_load, terms.cores, terms.sla_drop)
        for name, row in known.versions.items()
        if (terms := known.terms[name])
    }
    found = await run_in_process(PLACING_S, "The placement", plan, body, knowledge)
    if isinstance(found, str):
        raise UnusableBatch(f"{found[:1].upper()}{found[1:]}.")
    return found
