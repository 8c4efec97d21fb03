"""Candidate rules from causes that the lab has found: proposed, reviewed, exported."""
