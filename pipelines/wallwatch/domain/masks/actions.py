"""The actions of a flow as a text that can be compared.

Only what certainly means the same is made the same: spaces, the case of hexadecimal digits, and the order of
fields within one `set(tunnel(...))`. Anything else that differs counts as different.
"""

from __future__ import annotations

import re
from functools import lru_cache

from wallwatch.domain.masks.grammar import split
from wallwatch.domain.masks.values import Malformed

_EXTRA = re.compile(r",?\s*dp-extra-info:.*$")
_HEX = re.compile(r"(?<=[=(/])0[xX]0*([0-9a-fA-F]+)\b")
_TUNNEL = re.compile(r"^set\(tunnel\((.*)\)\)$")


@lru_cache(maxsize=65536)
def canonical(text: str) -> str:
    """The comparable form of an action list.

    >>> canonical(" set(tunnel(tun_id=0x2A,dst=192.0.2.9,flags(key))), vxlan_sys_4789 ")
    'set(tunnel(dst=192.0.2.9,flags(key),tun_id=0x2a)),vxlan_sys_4789'
    >>> canonical("drop, dp-extra-info:miniflow_bits(3,3)")
    'drop'

    Raises
    ------
    Malformed
        When brackets or quotes do not close.
    """
    return ",".join(_one(action) for action in split(_EXTRA.sub("", text).strip()))


def _one(action: str) -> str:
    tunnel = _TUNNEL.match(action)
    if tunnel is None:
        return action if '"' in action else _HEX.sub(lambda digits: f"0x{digits[1].lower()}", action)
    try:
        fields = split(tunnel[1])
    except Malformed:
        return action
    names = [re.split(r"[=(]", one, maxsplit=1)[0] for one in fields]
    if len(set(names)) < len(names) or "tunnel(" in tunnel[1]:
        return action
    return f"set(tunnel({','.join(sorted(_HEX.sub(lambda digits: f'0x{digits[1].lower()}', one) for one in fields))}))"
