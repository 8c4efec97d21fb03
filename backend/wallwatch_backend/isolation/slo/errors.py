"""Errors of SLO classes and rules."""

from wallwatch_backend.kit.problems import WallwatchError


class MinimaExceedLink(WallwatchError):
    status, code, title = 409, "minima_exceed_link", "The minima of an RNIC's VFs exceed its link"


class ClassExists(WallwatchError):
    status, code, title = 409, "slo_class_exists", "There is an SLO class with this name"


class ClassInUse(WallwatchError):
    status, code, title = 409, "slo_class_in_use", "A rule assigns this SLO class"


class UnknownClass(WallwatchError):
    status, code, title = 409, "slo_class_unknown", "A rule names an SLO class that does not exist"
