"""The forms of names that arrive from outside: hosts, racks, devices, pods, policies. What has another form is refused at the edge.

One table, `FORMS`, has the form of every tag of the registry and of the identities inside findings, forecasts and isolation messages.
All forms are ASCII without spaces at the ends, control characters, quotes or angle brackets, so a name can neither imitate another one
nor carry markup. Case counts: `Host01` and `host01` are two hosts, as they are for certificates of agents. PCI addresses are lower case.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from wallwatch.domain.telemetry.shown import shown

_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9])?"
_NAME = r"[A-Za-z0-9](?:[A-Za-z0-9._:/@+-]*[A-Za-z0-9])?"
_PCI = r"[0-9a-f]{4,8}:[0-9a-f]{2}:[01][0-9a-f]\.[0-7]"
_PLAIN = r"!#-%(-;=?-\[\]-~"
_PRINTABLE = rf"[{_PLAIN}](?:[ {_PLAIN}]*[{_PLAIN}])?"
_UP_TO_65535 = r"0|[1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]"


class Form(NamedTuple):
    """What a name looks like: one sentence for refusals and documents, and the check."""

    text: str
    pattern: re.Pattern[str]
    longest: int

    def matches(self, value: str) -> bool:
        """Whether a name has this form. The length is looked at first, so a huge name costs nothing."""
        return len(value) <= self.longest and self.pattern.fullmatch(value) is not None


def _form(text: str, pattern: str, longest: int) -> Form:
    return Form(text, re.compile(pattern, re.ASCII), longest)


HOST = _form(
    "a host name (RFC 1123, and underscores inside a label): labels of 1 to 63 letters, digits and hyphens, with dots between, 253 at most",
    rf"{_LABEL}(?:\.{_LABEL})*",
    253,
)
DEVICE = _form(
    "a PCI address (domain:bus:device.function in hexadecimal, lower case), or an InfiniBand device where there is no PCI device",
    rf"{_PCI}|[a-z][a-z0-9_.-]*",
    64,
)
PCI = _form("a PCI address: domain:bus:device.function in hexadecimal, lower case", _PCI, 16)
INTERFACE = _form("a network device: up to 64 letters, digits and the characters . _ : @ + -", r"[A-Za-z0-9][A-Za-z0-9._:@+-]*", 64)
RACK = _form("a rack: up to 64 printable ASCII characters without quotes, angle brackets, & and \\", _PRINTABLE, 64)
LABEL = _form("up to 128 printable ASCII characters without quotes, angle brackets, & and \\", _PRINTABLE, 128)
NAME = _form("a name: up to 512 letters, digits and the characters . _ : / @ + -", _NAME, 512)
PCI_ID = _form("PCI vendor and device in hexadecimal, such as 15b3:101d", r"[0-9a-fA-F]{4}:[0-9a-fA-F]{4}", 9)
DIRECTION = _form("egress or ingress", r"egress|ingress", 7)
HEX = _form("up to 64 hexadecimal digits", r"[0-9a-fA-F]+", 64)
NUMBER = _form("the number of a virtual function, from 0 to 65535", _UP_TO_65535, 5)
WORD = _form("a word: up to 64 lower-case letters, digits, underscores and hyphens", r"[a-z0-9][a-z0-9_-]*", 64)

FORMS: Mapping[str, Form] = {
    "host": HOST,
    "rack": RACK,
    "pci": DEVICE,
    "ibdev": INTERFACE,
    "netdev": INTERFACE,
    "representor": INTERFACE,
    "vf_pci": PCI,
    "vf": NUMBER,
    "function": NAME,
    "container": NAME,
    "pod": NAME,
    "driver": INTERFACE,
    "pci_id": PCI_ID,
    "hca_type": LABEL,
    "fw_ver": LABEL,
    "board_id": LABEL,
    "link_layer": LABEL,
    "direction": DIRECTION,
    "mask": HEX,
    "datapath": NAME,
    "policy": WORD,
    "revision": LABEL,
    "kind": WORD,
}
"""The form of each tag of the registry, by its name; the registry refuses a tag without one."""

FIELDS: Mapping[str, Mapping[str, Form]] = {
    "event": {"device": NAME, "container": NAME, "pod": NAME, "interface": INTERFACE, "policy": WORD},
}
"""Measurement -> fields of its messages that name something; an empty text means that the source has no name for it."""

OF_FINDINGS: Mapping[str, Form] = {"host": HOST, "pci": DEVICE, "rack": RACK, "model": LABEL, "driver": INTERFACE, "fw_ver": LABEL}
"""Names inside findings, forecasts and messages of isolation; each may be empty except `host`."""

MOST_RNICS = 64
"""RNICs of one host that are followed and stored: several times as many as a server has slots for."""

_MOST_REMEMBERED = 20_000
"""Names per tag that were already looked at: some 2 MB for each, and a fleet of 8,000 hosts fits."""


class Checked:
    """Checks names, and remembers those that were right: looking one up costs a tenth of matching it."""

    def __init__(self, forms: Mapping[str, Form], most: int = _MOST_REMEMBERED) -> None:
        self._forms = forms
        self._most = most
        self._right: dict[str, set[str]] = {tag: {""} for tag in forms}

    def wrong(self, names: Mapping[str, object]) -> str | None:
        """Return a sentence about the first name without the required form; None when all are right or empty.

        A tag without a form is nobody's identity, and passes.

        >>> Checked(FORMS).wrong({"host": "node7.rack1.example.net", "pci": "0000:3b:00.0", "site": "<b>"}) is None
        True
        >>> Checked(FORMS).wrong({"host": "<img src=x>"})[:41]
        "the host '<img src=x>' is not a host name"
        """
        right = self._right
        for tag, value in names.items():
            remembered = right.get(tag)
            if remembered is None or (type(value) is str and value in remembered):
                continue
            form = self._forms[tag]
            if type(value) is not str or not form.matches(value):
                return f"the {tag} {shown(value, 40)!a} is not {form.text}"
            if len(remembered) >= self._most:
                remembered.clear()
                remembered.add("")
            remembered.add(value)
        return None
