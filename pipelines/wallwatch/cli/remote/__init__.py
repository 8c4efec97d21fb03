"""Commands that work over the API, from any machine, with a token: docs/cli.md."""
