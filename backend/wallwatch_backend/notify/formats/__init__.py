"""The bodies that receivers get: each format is a pure function of a notification or an event."""
