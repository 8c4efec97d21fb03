"""Minutes of a fleet, from the store or from recordings, as the mathematics of `domain/forecast` takes them."""
