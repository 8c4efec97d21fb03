from wallwatch_backend.kit.problems import WallwatchError


class BadCredentials(WallwatchError):
    status, code, title = 401, "bad_credentials", "User name or password is wrong"


class TooManyAttempts(WallwatchError):
    status, code, title = 429, "too_many_attempts", "Too many failed sign-ins"
