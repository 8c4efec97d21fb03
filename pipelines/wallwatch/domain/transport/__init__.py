"""RoCEv2 captures: what the RNICs' transport engines really did, frame by frame.

Sources: Lumina (SIGCOMM '23) for the state machines and latencies, the InfiniBand Architecture Specification, volume 1,
annexes A16 and A17 for the headers.
"""
