"""The VFs of one RNIC: state, rates against the promise, and a second-by-second strip."""
