"""The figures of docs/isolation-simulations.md: the simulations of VF isolation next to the paper's measurements."""
