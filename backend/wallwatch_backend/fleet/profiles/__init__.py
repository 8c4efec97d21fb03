"""Performance profiles of RNIC models: calibrations, versions, what is active."""
