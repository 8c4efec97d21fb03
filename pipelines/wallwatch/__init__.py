"""Wallwatch pipelines: Kafka in, meaning out."""
