"""While the job `forecast` runs: the last hour in memory, how good its models are, and the champion against the challenger."""
