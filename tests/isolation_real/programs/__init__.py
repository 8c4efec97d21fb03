"""Programs that run alongside the tests: one plays the tenants, one sends storms. They import nothing of Wallwatch."""
