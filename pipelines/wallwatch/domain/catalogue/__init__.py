"""The catalogue: symptoms, causes, walls, RNIC profiles and remedies, in YAML next to this file."""
