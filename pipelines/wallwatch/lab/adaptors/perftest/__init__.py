"""A cordoned RNIC of a real host as a device under test: perftest's tools, TC flower rules, VF binds.

Everything that is changed is undone: on reset, at the end, after a signal, and after a crash by the next start.
"""
