"""Series of shared RNICs, simulated by mechanism, and how `wallwatch vnic detect` judges them.

Written apart from the detector: nothing here imports it or knows its rules; it runs as the command a user would run.
"""
