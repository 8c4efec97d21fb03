"""Isolation of virtual functions: whose traffic broke whose promise, second by second (PicNIC, SIGCOMM '19). See docs/isolation.md."""
