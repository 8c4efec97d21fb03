"""How good is the classifier? Recorded telemetry goes through the job's own stage, and its findings are compared with the truth."""
