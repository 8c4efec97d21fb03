"""What do the sick hosts of a fleet have in common that the others do not?"""
