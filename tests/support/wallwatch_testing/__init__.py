"""Shared by tests that cross parts: real Open vSwitch, hosts with collectors, a whole stack, reading Kafka."""
