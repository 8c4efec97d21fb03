"""`make faults`: random faults on the demo for an hour, with ledgers at both ends. Is anything lost or doubled?"""
