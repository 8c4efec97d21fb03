"""Why a token is not created."""

from wallwatch_backend.kit.problems import WallwatchError


class OwnerUnknown(WallwatchError):
    status, code, title = 422, "owner_unknown", "There is no enabled account of that name"


class AboveOwner(WallwatchError):
    status, code, title = 409, "above_owner", "The token would have more than its owner or its creator"
