"""What every noun of the backend shares: errors, database sessions, who is calling, pages of lists, the change feed."""
