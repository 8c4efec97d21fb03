"""Functions of a request as occupants of a card, with the models that are active for its card model and firmware."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from wallwatch.domain.contention.card import Occupant, Traffic
from wallwatch.domain.contention.counters import Counters
from wallwatch.domain.contention.own_load import OwnLoad
from wallwatch_backend.contention.models import present, repository
from wallwatch_backend.contention.models.errors import NoModel
from wallwatch_backend.contention.models.models import NfModelVersionRow
from wallwatch_backend.contention.models.schemas import FunctionTerms
from wallwatch_backend.kit.database import ReadSession


@dataclass(frozen=True, slots=True)
class KnownFunctions:
    """Active versions and terms by function."""

    versions: Mapping[str, NfModelVersionRow]
    terms: Mapping[str, FunctionTerms]

    def occupant(self, name: str, function: str, traffic: Traffic, counters: Counters | None = None) -> Occupant:
        row = self.versions[function]
        if counters is None and row.own_load is not None:
            counters = OwnLoad.from_json(row.own_load).at(traffic.flows)
        return Occupant(name, traffic, present.loaded(row.model), counters)


async def known_functions(session: ReadSession, functions: Iterable[str], nic_model: str, firmware: str) -> KnownFunctions:
    """Read what is known of functions.

    Raises
    ------
    NoModel
        When one of them has no active model for the card.
    """
    wanted = set(functions)
    versions = await repository.active_of(session, wanted, nic_model, firmware)
    missing = sorted(wanted - set(versions))
    if missing:
        where = f"{nic_model}, firmware {firmware}" if firmware else nic_model
        raise NoModel(f"No active model of {', '.join(missing)} for {where}: upload profiles and promote the version.")
    rows = await repository.terms(session)
    return KnownFunctions(versions, {function: present.terms(rows.get(function)) for function in wanted})
