"""What is ahead of each RNIC, as the job `forecast` says, and what came of it."""
