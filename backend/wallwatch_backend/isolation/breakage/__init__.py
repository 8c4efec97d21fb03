"""The fleet view: broken seconds by RNIC and by tenant."""
