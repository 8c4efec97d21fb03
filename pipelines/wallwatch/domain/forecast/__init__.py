"""Predicts load, performance and the time to each limit of an RNIC, minutes to one hour ahead."""
