"""Why a remedy may not be applied now."""

from wallwatch_backend.kit.problems import WallwatchError


class Stopped(WallwatchError):
    status, code, title = 409, "remedies_stopped", "An emergency stop is in force: nothing is applied"


class BreakerOpen(WallwatchError):
    status, code, title = 409, "breaker_open", "This remedy has failed too often lately"


class TooManyAtOnce(WallwatchError):
    status, code, title = 409, "too_many_at_once", "Remedies are under way on as many hosts as may be at once"


class AlreadyStopped(WallwatchError):
    status, code, title = 409, "already_stopped", "An emergency stop is in force already"


class NotStopped(WallwatchError):
    status, code, title = 409, "not_stopped", "No emergency stop is in force"


ADMISSION_ERRORS = (Stopped, BreakerOpen, TooManyAtOnce)
