"""What is known: symptoms, causes, walls, RNIC profiles and remedies, in YAML beside this file."""
