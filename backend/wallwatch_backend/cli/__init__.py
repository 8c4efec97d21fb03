"""`wallwatch agent`, `audit`, `keys`, `token`, `user`: administration directly on the database, before anybody can sign in.

Each module is one group of commands, loaded by its entry point. Commands import what they need when they run, so that help is quick.
"""
