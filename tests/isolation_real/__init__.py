"""Isolation that really breaks: network namespaces whose packets pass one CPU, real counters, and the product's detector.

One "host" has an uplink and a bridge, and a pair of devices per tenant in place of a representor and its VF. The softirq of
one CPU handles what arrives. Nothing is simulated: storms are sent, queues overflow, and the detector judges what the kernel
counts.
"""
