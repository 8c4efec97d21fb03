"""The section on scenario files."""

HOW_TO = """## Simulate a scenario of your own

`wallwatch vnic simulate docs/examples/vnic-what-if.json` runs a scenario without mechanisms and with them, then again with the
changes of `what_if`: does a promise break when a tenant doubles, and would PicNIC's mechanisms keep it?
Unknown keys, wrong types and impossible values are refused with their place.

| key | meaning | default |
| --- | --- | --- |
| `vfs.NAME.min_mbps`, `max_mbps` | envelope; the sum of the minima must fit into `line_gbps` | required |
| `vfs.NAME.p99_us`, `tenant` | promised delay in the receiver; whom the VF belongs to | none |
| `vfs.NAME.demands` | list of `at_ms`, `kpps`, `packet_bytes`, `senders`, `paced`: what is offered from then on | nothing |
| `vfs.NAME.window` | instead: `flows` that send as much as is not dropped (TCP), `packet_bytes`, `round_trip_us` | none |
| `vfs.NAME.extra_cost_us` | CPU time per packet on top of the usual | 0 |
| `mechanisms` | `cwfq`, `pccb`, `pccp`, `accounting`: true or false | all true |
| `engine` | costs and buffers: `pull_us`, `packet_us`, `byte_us`, `nic_ring`, `vf_queue` and others | those of this page |
| `control` | `pccb_epoch_us`, `pccb_alpha`, `pccp_epoch_us`, `pccp` (constants of Algorithm 1), `feedback_us` | those of this page |
| `egress` | sending side: `flows` (`vf`, `offered_kpps`, `packet_bytes`, `limit_mbps`), `completions`, caps | not simulated |
| `what_if` | list of `name` (a VF or a tenant) and `times` | nothing |
| `duration_ms`, `warmup_ms`, `seed`, `line_gbps` | length, time before figures count, random numbers, line rate | 100, 20, 1, 20 |

PCCB and PCCP limit demands; flows with a window slow down by themselves. The sending side is simulated apart from the receiving one.
"""
