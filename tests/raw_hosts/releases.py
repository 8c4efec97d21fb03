"""How releases of Open vSwitch differ in what they print."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Release:
    """One release of ovs-vswitchd."""

    version: str
    never_until_counted: bool
    """lib/tc.c, nl_parse_tcf: newer releases know by `lastuse == install` that a filter was not used yet and print `used:never`; older ones
    print the time since it was installed."""
    counts_more: bool
    """ofproto/ofproto-dpif-upcall.c and lib/dpif.c of 3.2 and later count failed deletions, ukey_invalid_stat_reset and others."""


OVS_2_17 = Release("2.17.9", never_until_counted=False, counts_more=False)
OVS_3_1 = Release("3.1.0", never_until_counted=True, counts_more=False)
OVS_3_3 = Release("3.3.1", never_until_counted=True, counts_more=True)
OVS_3_5 = Release("3.5.0", never_until_counted=True, counts_more=True)
