"""Errors of the stream."""

from wallwatch_backend.kit.problems import WallwatchError


class TooManyStreams(WallwatchError):
    status, code, title = 429, "too_many_streams", "Too many streams are open"
