"""Cards with network functions, as they are measured."""
