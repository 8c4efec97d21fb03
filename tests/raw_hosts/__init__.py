"""The second world of the evaluation: hosts played at the level of raw interfaces, apart from the simulator.

A case (`cases/`) describes what one host shows over time: a switch with its flow table, RNICs in sysfs, the kernel's log, what a crash left
behind, calls of the CNI chain. The real inputs of the collector read it on a clock of the case, their messages go through the code of
`wallwatch job classify`, and the findings are compared with what the mechanism and the paper say is right.
"""
