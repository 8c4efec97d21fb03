"""What enrolment answers when it refuses."""

from wallwatch_backend.kit.problems import WallwatchError


class BadEnrolmentToken(WallwatchError):
    status, code, title = 401, "bad_enrolment_token", "This enrolment token is not valid"


class HostEnrolled(WallwatchError):
    status, code, title = 409, "host_enrolled", "An agent is already enrolled for this host"


class CertificateRequestNeeded(WallwatchError):
    status, code, title = 400, "certificate_request_needed", "This server's agents use certificates"


class TooManyEnrolments(WallwatchError):
    status, code, title = 429, "too_many_enrolments", "Too many failed enrolments from this address"


class KubernetesUnreachable(WallwatchError):
    status, code, title = 503, "kubernetes_unreachable", "The Kubernetes API server could not be asked about this token"
