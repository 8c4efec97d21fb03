"""The lab: which settings make a device fall over, and at which value (ScalaCN, NSDI '25, sections 4.1 and 4.2).

Pure: it sees a device as a `Tester`.
"""
