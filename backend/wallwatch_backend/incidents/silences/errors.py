"""Errors of silences."""

from wallwatch_backend.kit.problems import InvalidInput, WallwatchError


class BadInterval(InvalidInput):
    code, title = "bad_interval", "The silence must end after it starts, and not in the past"


class Expired(WallwatchError):
    status, code, title = 409, "silence_expired", "The silence has ended"
