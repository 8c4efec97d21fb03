"""Network functions that share a SmartNIC: models from profiles, predictions per card, placement."""
