"""SLO classes, and the rules that assign them to VFs."""
