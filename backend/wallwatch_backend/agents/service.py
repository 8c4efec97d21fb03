from wallwatch_backend.kit.problems import WallwatchError


class BadEnrolmentToken(WallwatchError):
    status, code, title = 401, "bad_enrolment_token", "This enrolment token does not work"


class HostEnrolled(WallwatchError):
    status, code, title = 409, "host_enrolled", "An agent is enrolled for this host"


class TooManyEnrolments(WallwatchError):
    status, code, title = 429, "too_many_enrolments", "Too many failed enrolments from this address"
