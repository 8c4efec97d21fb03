"""Tables of the telemetry store and how they are written."""
