"""Wallwatch in a Kubernetes cluster: node conditions, Events, taints, labels and owners."""
