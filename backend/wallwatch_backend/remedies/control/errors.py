"""Why a remedy cannot be applied now."""

from wallwatch_backend.kit.problems import WallwatchError


class Stopped(WallwatchError):
    status, code, title = 409, "remedies_stopped", "An emergency stop is active: nothing is applied"


class BreakerOpen(WallwatchError):
    status, code, title = 409, "breaker_open", "This remedy has failed too often recently"


class TooManyAtOnce(WallwatchError):
    status, code, title = 409, "too_many_at_once", "Remedies are under way on as many hosts as the limit allows"


class AlreadyStopped(WallwatchError):
    status, code, title = 409, "already_stopped", "An emergency stop is already active"


class NotStopped(WallwatchError):
    status, code, title = 409, "not_stopped", "No emergency stop is active"


ADMISSION_ERRORS = (Stopped, BreakerOpen, TooManyAtOnce)
