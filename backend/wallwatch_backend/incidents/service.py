from wallwatch_backend.kit.problems import WallwatchError


class AlreadyResolved(WallwatchError):
    status, code, title = 409, "already_resolved", "The incident is resolved"
