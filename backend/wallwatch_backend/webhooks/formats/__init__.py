"""The bodies that receivers get: each form is a pure function of a notification."""
