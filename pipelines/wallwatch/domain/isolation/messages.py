"""The messages of `wallwatch.isolation`, as their readers require them. The job builds them as plain dicts (`live.py`).

Rates are Mbit/s and thousand packets per second, delays microseconds, shares of what the RNIC can carry; null: not measured.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, BaseModel, Field, TypeAdapter, ValidationError

from wallwatch.domain.telemetry.decode import Refused, check_names

TOPIC = "wallwatch.isolation"

_Vf = Annotated[int, Field(ge=0, le=65_535)]
_Text = Annotated[str, Field(max_length=1000)]
_Seconds = Annotated[float, Field(ge=0, le=86_400, allow_inf_nan=False)]
_Number = Annotated[float | None, Field(allow_inf_nan=False)]


class _Part(BaseModel):
    vf: _Vf
    generation: _Text = ""
    pod: _Text = ""
    tenant: _Text = ""


class AggressorPart(_Part):
    share: _Number = None
    fair_share: _Number = None


class VictimPart(_Part):
    reason: _Text


class MinutePart(_Part):
    """One VF in one minute."""

    slo: _Text = ""
    kept_s: _Seconds
    broken_s: _Seconds
    unknown_s: _Seconds
    not_promised_s: _Seconds
    aggressor_s: _Seconds
    tx_mbps: _Number = None
    rx_mbps: _Number = None
    tx_mbps_max: _Number = None
    rx_mbps_max: _Number = None
    tx_kpps: _Number = None
    rx_kpps: _Number = None
    delay_p50_us: _Number = None
    delay_p99_us: _Number = None
    dropped: _Number = None
    share: _Number = None
    fair_share: _Number = None
    state: _Text


class _Message(BaseModel):
    host: Annotated[str, Field(min_length=1, max_length=253)]
    pci: Annotated[str, Field(min_length=1, max_length=64)]
    rack: _Text = ""
    at: AwareDatetime


class BrokenMessage(_Message):
    """An interval in which a promise was broken; `at` is its end."""

    kind: Literal["broken"]
    interval_s: _Seconds
    estimated: bool
    mechanism: _Text | None = None
    vfs: list[VictimPart]
    aggressors: list[AggressorPart]
    load: _Number = None
    port_drops_per_s: _Number = None


class MinuteMessage(_Message):
    """One minute of an RNIC; `at` is its begin."""

    kind: Literal["minute"]
    vfs: list[MinutePart]


class NowMessage(_Message):
    """The newest state of an RNIC's VFs."""

    kind: Literal["now"]
    doubt: _Text | None = None
    mechanism: _Text | None = None
    load: _Number = None
    port_mbps: _Number = None
    vfs: list[dict[str, Any]]


IsolationMessage = BrokenMessage | MinuteMessage | NowMessage
_MESSAGE: TypeAdapter[IsolationMessage] = TypeAdapter(Annotated[IsolationMessage, Field(discriminator="kind")])
_EARLIEST = datetime.fromisoformat("2020-01-01T00:00:00Z")


def decode(value: bytes | None, latest: datetime) -> IsolationMessage:
    """Read one message of `wallwatch.isolation`.

    Raises
    ------
    Refused
        With one of the reasons `empty, not_json, wrong_type, nul_character, bad_identity, bad_timestamp`.
    """
    if value is None:
        raise Refused("empty", "the message has no value")
    if b"\\u0000" in value:
        raise Refused("nul_character", "PostgreSQL stores no text with a NUL character")
    try:
        found = _MESSAGE.validate_json(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        reason = "not_json" if first["type"] == "json_invalid" else "wrong_type"
        raise Refused(reason, f"{'.'.join(str(part) for part in first['loc'])}: {first['msg']}") from error
    check_names({"host": found.host, "pci": found.pci, "rack": found.rack})
    if not _EARLIEST <= found.at <= latest:
        raise Refused("bad_timestamp", f"the time {found.at.isoformat()} is before 2020 or too far in the future")
    return found
