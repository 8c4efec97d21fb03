"""Monthly SLO reports."""
