"""Cards over time: how close their functions come to their SLAs, and how right their models are."""
