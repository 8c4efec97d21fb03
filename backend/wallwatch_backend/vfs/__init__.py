"""Virtual functions of an RNIC: what each does, and which container has it."""
