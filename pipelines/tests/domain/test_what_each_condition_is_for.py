"""What each condition of a symptom keeps out, and what is enough to raise it: hosts in words and signals, written without the catalogue's
numbers.

Each sick host raises its symptom. Each healthy one differs from a sick one in the values that are named, and raises nothing.
"""

import pytest

from wallwatch.domain.catalogue.models import Condition, Definition
from wallwatch.domain.evidence import Feature
from wallwatch.domain.symptoms.detect import Verdict, judge
from wallwatch_testing.boundaries import definitions

Values = dict[str, float]
"""Signal -> its value in every window; `deletion_load 10` is its value in the window of 10 s."""

RULES = {
    definition.rule.partition("/")[0] if definition.rule[0] in "SB" else definition.rule: definition for _, definition in definitions()
}

ONE_BY_ONE: Values = {
    "live_share": 0.5, "reoffloads_per_s": 40.0, "population_drop": 0.05, "boots": 0.0, "flow_limit_exceeded": 0.0,
}  # fmt: skip
STUCK: Values = {"driver_lockups": 0.0, "lockups": 0.0, "stalls": 0.0, "command_timeouts": 0.0, "shutdowns": 0.0}
CRASHED: Values = {"creation_oopses": 0.0, "unclean_boots": 0.0, "creation_failures": 0.0}
SLOW_DELETIONS: Values = {
    "deletion_share": 12.0, "deletion_load": 0.6, "flow_deletions_per_s": 200.0, "overdue_share": 0.0, "flows_wall_share": 1.5,
}  # fmt: skip
IN_SOFTWARE: Values = {"software_share": 0.05, "software_packets_per_s": 20_000.0, "boots": 0.0, "port_down_lately": 0.0}
DEEP_MASKS: Values = {
    "bandwidth_share": 0.5, "latency_share": 3.0, "bandwidth_lost": 0.5, "packets_per_s": 1e6, "reoffload_ratio": 0.0,
    "software_share": 0.0,
}  # fmt: skip
RELEASED: Values = {"pcie_losses": 1.0, "pcie_share": 0.5, "vf_unbinds": 8.0, "removals": 0.0, "boots": 0.0}
AT_WORK: Values = {
    "device_stops": 0.0, "transmit_stops": 0.0, "port_frozen_s": 0.0, "command_timeouts": 0.0, "overdue_share": 0.0,
    "firmware_fatal_errors": 0.0, "encap_wall_share": 0.3, "port_off": 0.0, "boots": 0.0,
}  # fmt: skip
NO_NAME: Values = {
    "trouble_per_s": 5000.0, "trouble_share": 100.0, "port_share": 0.1, "population_change": 0.02, "port_off": 0.0, "boots": 0.0,
    "shutdowns": 0.0,
}  # fmt: skip
LINK_LOST: Values = {"pcie_losses": 1.0, "pcie_share": 0.5, "removals": 0.0, "boots": 0.0, "shutdowns": 0.0}
HELD_CLASS: Values = {
    "class_unused_share": 0.4, "class_deviation": 0.01, "transmit_waits_per_s": 80_000.0, "transmit_share": 0.6, "pauses_per_s": 0.0,
}  # fmt: skip
DROPPING: Values = {"discards_per_s": 300.0, "receive_share": 0.3, "pauses_per_s": 0.0, "host_drops_per_s": 0.0}
STALLED: Values = DROPPING | {"slow_path_model": 1.0, "sequence_errors_per_s": 200.0, "ack_timeouts_per_s": 20.0}
STARTING: Values = DROPPING | {"mismatched_senders": 2.0, "new_qps_per_s": 8.0}
MARKED: Values = {"unanswered_marks": 9000.0, "np_off": 0.0, "peers_cnps_handled_per_s": 60.0}
READING: Values = {"silent_read_repeats": 400.0, "silent_read_drops": 0.0, "peers_reads_per_s": 500.0}
ADAPTIVE: Values = {"adaptive_timeouts_per_s": 4.0, "adaptive_retransmissions_per_s": 9.0}

SICK: list[tuple[str, str, Values]] = [
    ("S1", "flows with traffic are deleted and return", ONE_BY_ONE),
    ("S2", "a CPU is stuck in the driver", STUCK | {"driver_lockups": 1}),
    ("S2", "a CPU is stuck, and the driver abandons a command", STUCK | {"lockups": 1, "command_timeouts": 1}),
    ("S2", "samples pause, and the driver abandons a command", STUCK | {"stalls": 1, "command_timeouts": 1}),
    ("S3", "the kernel crashes in flow creation", CRASHED | {"creation_oopses": 1}),
    ("S3", "the RNIC refuses an entry, then the host boots unannounced", CRASHED | {"unclean_boots": 1, "creation_failures": 1}),
    ("S4", "deletions are slow in a full table", SLOW_DELETIONS),
    ("S4", "deletions take a fifth of the time, for 20 s", SLOW_DELETIONS | {"deletion_load": 0.22}),
    ("S4", "deletions take a third of the time, for 10 s", SLOW_DELETIONS | {"deletion_load": 0.33, "deletion_load 20": 0.12}),
    ("S4", "deletions take half of the time, for 5 s",
     SLOW_DELETIONS | {"deletion_load 5": 0.6, "deletion_load 10": 0.2, "deletion_load 20": 0.12}),
    ("S4", "a table of middling size in which a fifth waits for its deletion",
     SLOW_DELETIONS | {"flows_wall_share": 0.4, "overdue_share": 0.3}),
    ("S4", "few deletions are done, because many wait", SLOW_DELETIONS | {"flow_deletions_per_s": 4, "overdue_share": 0.1}),
    ("S5", "software forwards what is marked as offloaded", IN_SOFTWARE),
    ("S6", "half of the bandwidth is lost to deep masks", DEEP_MASKS),
    ("S6", "bandwidth declines, latency does not", DEEP_MASKS | {"latency_share": 1.1}),
    ("S6", "bandwidth declines, but was not needed; latency grows", DEEP_MASKS | {"bandwidth_lost": 0.02}),
    ("S7", "functions are unbound and the link goes down", RELEASED),
    ("S7", "functions are unbound and the link goes down and comes back whole", RELEASED | {"pcie_share": 1.0}),
    ("S7", "functions are unbound and the link is narrower", RELEASED | {"pcie_losses": 0}),
    ("S7", "the running kernel sees the loss just after a boot", RELEASED | {"boots": 1}),
    ("S8", "the driver finds the RNIC dead", AT_WORK | {"device_stops": 1}),
    ("S8", "the driver finds the RNIC dead while its port is off", AT_WORK | {"device_stops": 1, "port_off": 1}),
    ("S8", "a queue stands and a command has no answer", AT_WORK | {"transmit_stops": 1, "command_timeouts": 1}),
    ("S8", "a queue stands with a full encapsulation buffer", AT_WORK | {"transmit_stops": 1, "encap_wall_share": 1.0}),
    ("S8", "counters stand and a command has no answer", AT_WORK | {"port_frozen_s": 15, "command_timeouts": 1}),
    ("S8", "counters stand and deletions wait", AT_WORK | {"port_frozen_s": 15, "overdue_share": 0.95}),
    ("S8", "counters stand after a fatal error of the firmware", AT_WORK | {"port_frozen_s": 15, "firmware_fatal_errors": 1}),
    ("U/1", "errors without a name, and the traffic is gone", NO_NAME),
    ("U/3", "the link goes down and nothing explains it", LINK_LOST),
    ("U/3", "the link goes down, comes back whole, and nothing explains it", LINK_LOST | {"pcie_share": 1.0}),
    ("B1", "a class with data waiting stays at its guarantee", HELD_CLASS),
    ("B2", "innocents time out while the port drops packets for no lack of room", STALLED),
    ("B2", "queue pairs are counted one by one",
     DROPPING | {"slow_path_model": 1.0, "qps_losing": 12.0, "qps_waiting": 24.0}),
    ("B3", "connections from the other model start", STARTING),
    ("B4", "the senders handle what nobody counted", MARKED),
    ("B4", "the port sends small packets with the priority of notifications",
     MARKED | {"peers_cnps_handled_per_s": 0.0, "cnp_priority_packets_per_s": 50.0}),
    ("B4",
     "the flow table counts what the firmware does not", MARKED | {"peers_cnps_handled_per_s": 0.0, "uncounted_notifications": 900.0}),
    ("B4", "the notification point is enabled, and no sender is known", {"unanswered_marks": 9000.0, "np_off": 0.0, "np_unobserved": 1.0}),
    ("B5", "peers are asked again, and no loss was counted", READING),
    ("B5", "the port drops packets while reads are active", READING | {"silent_read_repeats": 0.0, "silent_read_drops": 5000.0}),
    ("B8", "timers fire that nobody has set", ADAPTIVE),
]  # fmt: skip

HEALTHY: list[tuple[str, str, Values]] = [
    ("S1", "flows are deleted that had no traffic", ONE_BY_ONE | {"live_share": 0.01}),
    ("S1", "one flow in half a minute returns", ONE_BY_ONE | {"reoffloads_per_s": 0.03}),
    ("S1", "the whole table was emptied", ONE_BY_ONE | {"population_drop": 1.0}),
    ("S1", "the host has just booted", ONE_BY_ONE | {"boots": 1}),
    ("S1", "the switch has more flows than its own limit", ONE_BY_ONE | {"flow_limit_exceeded": 1}),
    ("S2", "a CPU is stuck somewhere else", STUCK | {"lockups": 1}),
    ("S2", "samples pause", STUCK | {"stalls": 1}),
    ("S2", "the driver abandons a command, and all goes on", STUCK | {"command_timeouts": 1}),
    ("S2", "the host shuts down", STUCK | {"driver_lockups": 1, "shutdowns": 1}),
    ("S3", "the power fails", CRASHED | {"unclean_boots": 1}),
    ("S3", "the RNIC refuses an entry", CRASHED | {"creation_failures": 1}),
    ("S4", "a deletion takes its usual time", SLOW_DELETIONS | {"deletion_share": 1.0}),
    ("S4", "deletions are slow and few", SLOW_DELETIONS | {"deletion_load": 0.02}),
    ("S4", "some deletions a second, and none waits", SLOW_DELETIONS | {"flow_deletions_per_s": 4}),
    ("S4", "a small table in which little waits", SLOW_DELETIONS | {"flows_wall_share": 0.1, "overdue_share": 0.08}),
    ("S5", "one packet in ten thousand goes through software", IN_SOFTWARE | {"software_share": 0.0001}),
    ("S5", "some packets a second go through software", IN_SOFTWARE | {"software_packets_per_s": 20}),
    ("S5", "the host has just booted", IN_SOFTWARE | {"boots": 1}),
    ("S5", "the port was down a moment ago", IN_SOFTWARE | {"port_down_lately": 1}),
    ("S6", "the bandwidth is what it should be", DEEP_MASKS | {"bandwidth_share": 0.98}),
    ("S6", "the masks are deep, and neither bandwidth nor latency suffers", DEEP_MASKS | {"latency_share": 1.05, "bandwidth_lost": 0.01}),
    ("S6", "hardly a packet arrives", DEEP_MASKS | {"packets_per_s": 5}),
    ("S6", "flows return all the time, which is S1", DEEP_MASKS | {"reoffload_ratio": 0.6}),
    ("S6", "software forwards a part, which is S5", DEEP_MASKS | {"software_share": 0.4}),
    ("S7", "functions are unbound, and the link stays", RELEASED | {"pcie_losses": 0, "pcie_share": 1.0}),
    ("S7", "the link goes down, and nobody unbound a function", RELEASED | {"vf_unbinds": 0}),
    ("S7", "the RNIC is removed on purpose", RELEASED | {"removals": 1}),
    ("S7", "a boot trains a narrower link", RELEASED | {"boots": 1, "pcie_losses": 0}),
    ("S8", "a pause of the job with a nearly full buffer", AT_WORK | {"port_frozen_s": 15, "encap_wall_share": 1.0}),
    ("S8", "a queue stands for a moment", AT_WORK | {"transmit_stops": 1}),
    ("S8", "a command has no answer, and packets flow", AT_WORK | {"command_timeouts": 1}),
    ("S8", "the port is off and its queue stands", AT_WORK | {"transmit_stops": 1, "command_timeouts": 1, "port_off": 1}),
    ("S8", "ports come up after a boot", AT_WORK | {"device_stops": 1, "boots": 1}),
    ("U/1", "a few errors", NO_NAME | {"trouble_per_s": 3}),
    ("U/1", "as many errors as always", NO_NAME | {"trouble_share": 1.0}),
    ("U/1", "errors, and the traffic goes on", NO_NAME | {"port_share": 0.95}),
    ("U/1", "the job ends and takes its flows with it", NO_NAME | {"population_change": 0.9}),
    ("U/1", "the port is disabled", NO_NAME | {"port_off": 1}),
    ("U/1", "the host has booted", NO_NAME | {"boots": 1}),
    ("U/1", "the host shuts down", NO_NAME | {"shutdowns": 1}),
    ("U/3", "the link is as it was", LINK_LOST | {"pcie_losses": 0, "pcie_share": 1.0}),
    ("U/3", "a narrower link of which the running kernel says nothing", LINK_LOST | {"pcie_losses": 0}),
    ("U/3", "the RNIC is removed on purpose", LINK_LOST | {"removals": 1}),
    ("U/3", "a boot trains the link", LINK_LOST | {"boots": 1}),
    ("U/3", "the host shuts down", LINK_LOST | {"shutdowns": 1}),
    ("B1", "all classes use their guarantees", HELD_CLASS | {"class_unused_share": 0.01}),
    ("B1", "the class has more than its guarantee", HELD_CLASS | {"class_deviation": 0.6}),
    ("B1", "congestion control slows both classes, so nothing waits at the port", HELD_CLASS | {"transmit_waits_per_s": 0.0}),
    ("B1", "the port is full", HELD_CLASS | {"transmit_share": 0.97}),
    ("B1", "the network asks the port to pause", HELD_CLASS | {"pauses_per_s": 40.0}),
    ("B2", "a packet is dropped now and then", STALLED | {"discards_per_s": 0.5}),
    ("B2", "another model drops packets", STALLED | {"slow_path_model": 0.0}),
    ("B2", "incast fills the link", STALLED | {"receive_share": 0.97}),
    ("B2", "incast fills the buffer, which asks for a pause", STALLED | {"pauses_per_s": 12.0}),
    ("B2", "the host takes its packets too late", STALLED | {"host_drops_per_s": 900.0}),
    ("B2", "nobody loses packets of RDMA", STALLED | {"sequence_errors_per_s": 0.0, "qps_losing": 0.0}),
    ("B2", "nobody without losses waits", STALLED | {"ack_timeouts_per_s": 0.0, "qps_waiting": 0.0}),
    ("B3", "connections start and nothing is dropped", STARTING | {"discards_per_s": 0.0}),
    ("B3", "the senders are of the same model", STARTING | {"mismatched_senders": 0.0}),
    ("B3", "packets are dropped, and no connection starts", STARTING | {"new_qps_per_s": 0.0}),
    ("B3", "the start of a job fills the link", STARTING | {"receive_share": 0.98}),
    ("B3", "the start of a job fills the buffer, which asks for a pause", STARTING | {"pauses_per_s": 3.0}),
    ("B3", "the host takes its packets too late", STARTING | {"host_drops_per_s": 900.0}),
    ("B4", "the counter moves", MARKED | {"unanswered_marks": 0.0}),
    ("B4", "few marks within a minute", MARKED | {"unanswered_marks": 400.0}),
    ("B4", "the notification point is disabled", MARKED | {"np_off": 1.0}),
    ("B4", "nobody has seen a notification, and the setting says nothing",
     MARKED | {"peers_cnps_handled_per_s": 0.0, "cnp_priority_packets_per_s": 0.0, "uncounted_notifications": 0.0, "np_unobserved": 0.0}),
    ("B5", "the losses are counted", READING | {"silent_read_repeats": 0.0}),
    ("B5", "no reads are active", READING | {"peers_reads_per_s": 0.0}),
    ("B8", "time-outs are those of the settings", ADAPTIVE | {"adaptive_timeouts_per_s": 0.0}),
    ("B8", "timers fire, and nothing is sent again", ADAPTIVE | {"adaptive_retransmissions_per_s": 0.0}),
]  # fmt: skip


def verdict(rule: str, values: Values) -> Verdict:
    definition: Definition = RULES[rule]

    def feature_of(condition: Condition) -> Feature | None:
        value = values.get(f"{condition.signal} {condition.window_s}", values.get(condition.signal))
        return None if value is None else Feature(float(value), 0, 1)

    return judge(definition, feature_of, active=False)


@pytest.mark.parametrize(("rule", "host", "values"), [pytest.param(*case, id=f"{case[0]}: {case[1]}") for case in SICK])
def test_this_is_enough(rule: str, host: str, values: Values) -> None:
    assert verdict(rule, values) is Verdict.PRESENT, host


@pytest.mark.parametrize(("rule", "host", "values"), [pytest.param(*case, id=f"{case[0]}: {case[1]}") for case in HEALTHY])
def test_this_keeps_it_out(rule: str, host: str, values: Values) -> None:
    assert verdict(rule, values) is Verdict.ABSENT, host


def test_each_rule_has_a_sick_and_a_healthy_host() -> None:
    assert {case[0] for case in SICK} == {case[0] for case in HEALTHY} == set(RULES)
