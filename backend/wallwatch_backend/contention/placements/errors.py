"""Errors of placements."""

from wallwatch_backend.kit.problems import WallwatchError


class UnusableBatch(WallwatchError):
    status, code, title = 422, "unusable_batch", "These functions cannot be placed"
