"""Errors of incidents."""

from wallwatch_backend.kit.problems import InvalidInput, WallwatchError


class AlreadyResolved(WallwatchError):
    status, code, title = 409, "already_resolved", "The incident is resolved"


class MergedAway(WallwatchError):
    status, code, title = 409, "merged_away", "The incident was merged into another one"


class UnknownAssignee(InvalidInput):
    code, title = "unknown_assignee", "The incident cannot be assigned to this name"


class CannotMerge(InvalidInput):
    code, title = "cannot_merge", "These incidents cannot be merged"


class CannotSplit(InvalidInput):
    code, title = "cannot_split", "These findings cannot be split off"
