"""What the tests that cross parts share: real Open vSwitch, hosts with collectors, a whole stack, reading Kafka."""
