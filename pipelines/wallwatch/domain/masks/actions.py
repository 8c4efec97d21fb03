"""The actions of a flow as a text that can be compared.

Only certainly equivalent parts are normalised: spaces, the case of hexadecimal digits, and the order of
fields and flags within one `set(...)`. Anything else that differs counts as different.
"""

from __future__ import annotations

import re
from functools import lru_cache

from wallwatch.domain.masks.grammar import split
from wallwatch.domain.masks.values import Malformed

_EXTRA = re.compile(r",?\s*dp-extra-info:.*$")
_HEX = re.compile(r"(?<=[=(/])0[xX]0*([0-9a-fA-F]+)\b")
_SET = re.compile(r"^set\((\w+)\((.*)\)\)$")
_FLAGS = re.compile(r"^flags\(([\w|]+)\)$")
_SPACE = re.compile(r"([,(])\s+")


@lru_cache(maxsize=65536)
def canonical(text: str) -> str:
    """The comparable form of an action list.

    >>> canonical(" set(tunnel(tun_id=0x2A,dst=192.0.2.9,flags(key))), vxlan_sys_4789 ")
    'set(tunnel(dst=192.0.2.9,flags(key),tun_id=0x2a)),vxlan_sys_4789'
    >>> canonical("set(eth(src=02:00:00:00:00:01,dst=02:00:00:00:00:02)), push_vlan(vid=5, pcp=0),3")
    'set(eth(dst=02:00:00:00:00:02,src=02:00:00:00:00:01)),push_vlan(vid=5,pcp=0),3'
    >>> canonical("drop, dp-extra-info:miniflow_bits(3,3)")
    'drop'

    Raises
    ------
    Malformed
        When brackets or quotes do not close.
    """
    return ",".join(_one(action) for action in split(_EXTRA.sub("", text).strip()))


def _one(action: str) -> str:
    if '"' in action:
        return action
    action = _SPACE.sub(r"\1", _HEX.sub(lambda digits: f"0x{digits[1].lower()}", action))
    rewrite = _SET.match(action)
    if rewrite is None:
        return action
    try:
        fields = split(rewrite[2])
    except Malformed:
        return action
    names = [re.split(r"[=(]", one, maxsplit=1)[0] for one in fields]
    if len(set(names)) < len(names) or rewrite[1] in names:
        return action
    return f"set({rewrite[1]}({','.join(sorted(_flags(one) for one in fields))}))"


def _flags(field: str) -> str:
    """The flags of a tunnel in one order; they are separated by bars where they are set."""
    found = _FLAGS.match(field)
    return field if found is None else f"flags({'|'.join(sorted(found[1].split('|')))})"
