"""Devices under test that come with Wallwatch. `wallwatch lab device NAME` runs one: it speaks dut/1 on stdin and stdout.

A function takes the arguments after the name and returns the exit status.
"""

ADAPTORS: dict[str, str] = {
    "connect": "wallwatch.lab.adaptors.connect:main",
    "ovs": "wallwatch.lab.adaptors.ovs.main:main",
    "perftest": "wallwatch.lab.adaptors.perftest.main:main",
}

DESCRIPTIONS: dict[str, str] = {
    "connect": "a device behind tcp://HOST:PORT or unix:///PATH, which --dut takes as they are",
    "ovs": "a real Open vSwitch (userspace datapath) in its own network namespace, with real packets",
    "perftest": "a cordoned RNIC of this host: ib_write_bw and the like, TC flower rules, VF binds; --dry-run changes nothing",
}
