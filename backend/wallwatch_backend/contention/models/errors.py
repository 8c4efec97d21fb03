"""Errors of models of network functions."""

from wallwatch_backend.kit.problems import WallwatchError


class UnusableProfiles(WallwatchError):
    status, code, title = 422, "unusable_profiles", "The profiles cannot be used"


class NotPromotable(WallwatchError):
    status, code, title = 409, "not_promotable", "This version cannot be promoted"


class NothingToRollBack(WallwatchError):
    status, code, title = 409, "nothing_to_roll_back", "No version of this model is active"


class NoModel(WallwatchError):
    status, code, title = 422, "no_model", "A function has no active model"
