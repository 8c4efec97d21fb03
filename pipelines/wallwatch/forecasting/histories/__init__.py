"""Minutes of a fleet, from the store or from recordings, as input of `domain/forecast`."""
