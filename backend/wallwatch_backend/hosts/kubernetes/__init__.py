"""Kubernetes as the backend meets it: the API server, and what it says of nodes and pods."""
