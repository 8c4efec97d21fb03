"""Options of an analysis as people write them, checked."""

from __future__ import annotations

import re
from collections.abc import Iterable

from wallwatch.domain.transport.analysis import Options
from wallwatch.domain.transport.connections import Endpoint, packed_address
from wallwatch.domain.transport.mirror import EVENT_CODES

_END = re.compile(r"\[?([0-9A-Fa-f.:]+?)\]?:(0x[0-9A-Fa-f]{1,6}|[0-9]{1,8})", re.ASCII)
MOST_QPN = 0xFFFFFF


class OptionError(ValueError):
    """An option means nothing; the text names it and says what is expected."""


def analysis_options(
    *,
    roce_port: str = "4791",
    timeout: int = 14,
    events: str | None = None,
    event_codes: str | None = None,
    rtt_us: float | None = None,
    pairs: Iterable[str] = (),
    series: bool = False,
) -> Options:
    """Options from their texts.

    Raises:
        OptionError: one of them is invalid.
    """
    if events not in (None, "lumina"):
        raise OptionError(f"--events {events}: unknown; the only metadata understood is lumina")
    if event_codes is not None and events is None:
        raise OptionError("--event-codes: belongs to --events lumina")
    given: dict[Endpoint, Endpoint] = {}
    for pair in pairs:
        one, other = _pair(pair)
        given[one], given[other] = other, one
    return Options(
        port=_port(roce_port),
        timeout=timeout,
        mirrored=events == "lumina",
        event_codes=_codes(event_codes) if event_codes is not None else {},
        rtt_ns=None if rtt_us is None else round(rtt_us * 1000),
        pairs=given,
        series=series,
    )


def _port(text: str) -> int | None:
    if text == "any":
        return None
    if text.isascii() and text.isdigit() and len(text) < 6 and 0 < int(text) < 1 << 16:
        return int(text)
    raise OptionError(f"--roce-port {text}: must be a port from 1 to 65535, or any")


def _codes(text: str) -> dict[str, int]:
    codes: dict[str, int] = {}
    for part in text.split(","):
        name, _, code = part.partition("=")
        if name not in EVENT_CODES or not (code.isascii() and code.isdigit() and len(code) < 4 and int(code) < 256):
            raise OptionError(f"--event-codes {text}: expected NAME=TTL,... with names {', '.join(EVENT_CODES)} and TTLs from 0 to 255")
        codes[name] = int(code)
    everything = {**EVENT_CODES, **codes}
    if len(set(everything.values())) < len(everything):
        raise OptionError(f"--event-codes {text}: two events would have the same TTL")
    return codes


def _pair(text: str) -> tuple[Endpoint, Endpoint]:
    """The ends of a connection.

    >>> [(address[-4:].hex(), qpn) for address, qpn in _pair("10.0.0.1:0x22-10.0.0.2:17")]
    [('0a000001', 34), ('0a000002', 17)]
    """
    ends = [_endpoint(part) for part in text.split("-")]
    if len(ends) != 2 or ends[0] is None or ends[1] is None:
        raise OptionError(f"--qp {text}: expected IP:QPN-IP:QPN, for example 10.0.0.1:0x22-10.0.0.2:0x11, with each host's own QP number")
    return ends[0], ends[1]


def _endpoint(text: str) -> Endpoint | None:
    match = _END.fullmatch(text)
    if not match:
        return None
    number = int(match[2], 0) if match[2].startswith("0x") else int(match[2])
    try:
        return (packed_address(match[1]), number) if number <= MOST_QPN else None
    except ValueError:
        return None
