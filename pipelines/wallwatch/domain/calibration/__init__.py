"""From measured bandwidths and latencies to the parameters of the performance model, and whether they may replace a profile."""
