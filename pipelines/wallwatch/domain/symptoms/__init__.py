"""Detection of symptoms in event time: pure steps from state and sample to state and findings."""
