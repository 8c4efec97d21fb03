"""The state of one host in the symptom stage, as it is kept between two processes."""

from typing import Any

from wallwatch.domain.symptoms.host_stage import State
from wallwatch.domain.symptoms.rnic_state import RnicState, from_plain


def plain(state: State) -> dict[str, Any]:
    """All parts as MessagePack has them, to be compared or changed."""
    return {name: part.plain() if isinstance(part, RnicState) else part for name, part in state.items()}


def read_again(parts: dict[str, Any], host: str = "host") -> State:
    """The state of these parts."""
    return {name: part if name == host else from_plain(part) for name, part in parts.items()}
