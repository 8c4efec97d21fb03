"""The Wallwatch API: serve, authorise, command."""
