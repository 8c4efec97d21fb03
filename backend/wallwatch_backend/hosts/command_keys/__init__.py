"""The keys that sign commands: rotated with an overlap, introduced to agents by their predecessors."""
