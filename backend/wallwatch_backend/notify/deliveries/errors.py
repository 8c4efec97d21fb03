"""Errors of deliveries."""

from wallwatch_backend.kit.problems import WallwatchError


class AlreadyDelivered(WallwatchError):
    status, code, title = 409, "already_delivered", "This delivery was already delivered"


class StillPending(WallwatchError):
    status, code, title = 409, "still_pending", "This delivery is still pending"
