"""What can be wrong with a calibration or a promotion."""

from wallwatch_backend.kit.problems import WallwatchError


class NothingToFit(WallwatchError):
    status, code, title = 422, "nothing_to_fit", "There is nothing in it that could be fitted"


class NotPromotable(WallwatchError):
    status, code, title = 409, "not_promotable", "This version cannot be promoted"


class NothingToRollBack(WallwatchError):
    status, code, title = 409, "nothing_to_roll_back", "The catalogue's own profile is in force"
