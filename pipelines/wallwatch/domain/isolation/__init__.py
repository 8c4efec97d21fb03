"""Isolation: promises to VFs, whether they are kept, and by whose doing not (PicNIC, SIGCOMM 2019)."""
