"""Virtual functions of an RNIC: state, rates, and the container that holds each."""
