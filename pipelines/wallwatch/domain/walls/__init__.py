"""How near an RNIC is to each of its walls."""
