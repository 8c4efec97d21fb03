"""Trained models on disk, and their roles."""
