"""The error that the local stack shows to users: what is wrong and what to do."""


class LocalStackError(RuntimeError):
    """A problem that the user at the terminal must know about or fix."""
