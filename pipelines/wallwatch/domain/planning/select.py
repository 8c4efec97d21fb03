"""The flows of one RNIC out of the dump of a host: each RNIC has chains of its own."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

from wallwatch.domain.masks.dump import Dump, Flow

_OUTPUT = re.compile(r"(?:^|[,(])\"?([\w.@-]+)\"?(?=$|[,)])")


def of_ports(dump: Dump, patterns: Sequence[str]) -> Dump:
    """Flows that come from a port that matches, or came out of a tunnel and go to one.

    Parameters
    ----------
    patterns : sequence of str
        Names or numbers of ports, with `*` and `?`.

    Examples
    --------
    >>> from wallwatch.domain.masks.dump import read_dump
    >>> from wallwatch.domain.masks.space import HeaderSpace
    >>> lines = ["in_port(p0_1), actions:vx", "in_port(p1_1), actions:vx", "tunnel(tun_id=1),in_port(vx), actions:p0_1"]
    >>> [flow.line for flow in of_ports(read_dump(chr(10).join(lines), HeaderSpace()), ["p0_*"]).flows]
    [1, 3]
    """
    names = {number: name for name, number in dump.space.ports.items()}
    tunnel = dump.space.mask_of("tunnel")

    def chosen(flow: Flow) -> bool:
        comes_from = names.get(dump.space.field_of(flow.value, "in_port"), "")
        ports = _OUTPUT.findall(flow.written) if flow.mask & tunnel else [comes_from]
        return any(fnmatchcase(port, pattern) for port in ports for pattern in patterns)

    return replace(dump, flows=tuple(flow for flow in dump.flows if chosen(flow)))
