"""Where forecasts come from and how good they are: histories from recordings and from the store, training, registry, figures."""
