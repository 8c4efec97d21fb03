"""Isolation of virtual functions: promises, who breaks them, fair shares and simulations (PicNIC, SIGCOMM '19). Pure."""
