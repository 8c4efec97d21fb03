"""Evaluation of mask plans: simulated RNICs with and without them, compared with the paper's figures (`make evaluate-plans`)."""
