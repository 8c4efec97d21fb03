"""Webhooks, policies, silences and SLOs as a file: exported, compared with a server, applied. docs/cli.md has the format."""
