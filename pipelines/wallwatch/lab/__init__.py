"""The lab's input and output: processes of devices, the journal of every test, and campaigns that can be killed and resumed.

What to test next is decided in `wallwatch.domain.lab`, which does no input or output.
"""
