"""A real Open vSwitch as a device under test.

Its userspace datapath looks a packet up in one subtable per mask, one after another, as an RNIC does with its masks (paper, 4.2).
"""
