"""The one kind of error that the local stack reports to a person: what is wrong and what to do."""


class LocalStackError(RuntimeError):
    """Something that the person at the terminal has to know or do."""
