"""What can be wrong with a webhook."""

from wallwatch_backend.kit.problems import InvalidInput, WallwatchError


class BadUrl(InvalidInput):
    code, title = "bad_url", "Events cannot be sent to this address"


class AlreadyDelivered(WallwatchError):
    status, code, title = 409, "already_delivered", "This delivery has reached its receiver"


class StillPending(WallwatchError):
    status, code, title = 409, "still_pending", "This delivery is still on its way"
