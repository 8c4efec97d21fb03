"""What a datapath flow matches: the text of a dump as ternary words over header bits."""
