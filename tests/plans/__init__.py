"""What mask plans are worth: simulated cards with and without them, against the paper's figures (`make evaluate-plans`)."""
