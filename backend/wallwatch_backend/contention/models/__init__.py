"""Models of network functions: versions from uploaded profiles, and what each function is promised."""
