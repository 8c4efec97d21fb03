"""A second generator of series, simpler than tests/isolation_series and written apart from it: one assumption is changed at a time."""
