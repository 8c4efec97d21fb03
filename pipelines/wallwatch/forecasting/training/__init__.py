"""From histories to a trained forecaster with calibrated intervals: on one machine, or on a Dask cluster."""
