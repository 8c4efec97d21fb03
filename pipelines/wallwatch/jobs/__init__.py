"""One small module per stream job."""
