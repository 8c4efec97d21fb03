"""Network functions that share a SmartNIC: throughput, the binding resource, placement (Yala, ASPLOS '25). See docs/contention.md."""
