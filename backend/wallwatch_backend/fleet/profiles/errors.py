"""Errors of calibrations and promotions."""

from wallwatch_backend.kit.problems import WallwatchError


class NothingToFit(WallwatchError):
    status, code, title = 422, "nothing_to_fit", "The data contain nothing to fit"


class NotPromotable(WallwatchError):
    status, code, title = 409, "not_promotable", "This version cannot be promoted"


class NothingToRollBack(WallwatchError):
    status, code, title = 409, "nothing_to_roll_back", "The built-in profile is active already"
