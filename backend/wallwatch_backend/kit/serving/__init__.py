"""How connections are served: bounds on what a peer may cost this process before it is authenticated (docs/decisions/0018)."""
