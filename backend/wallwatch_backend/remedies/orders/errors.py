"""Why a remedy is not created, approved or undone."""

from wallwatch_backend.kit.problems import InvalidInput, WallwatchError


class UnknownAction(InvalidInput):
    code, title = "unknown_action", "The catalogue has no such remedy"


class BadParameter(InvalidInput):
    code, title = "bad_parameter", "A parameter of the remedy is invalid"


class IncidentUnknown(InvalidInput):
    code, title = "unknown_incident", "There is no such incident"


class NoAgent(WallwatchError):
    status, code, title = 409, "no_agent", "No agent is enrolled for this host"


class RemedyInProgress(WallwatchError):
    status, code, title = 409, "remedy_in_progress", "The same remedy is under way on this host"


class NotPending(WallwatchError):
    status, code, title = 409, "not_pending", "The remedy is not waiting for approval"


class SecondPersonNeeded(WallwatchError):
    status, code, title = 403, "second_person_needed", "Somebody else must approve what you requested"


class NotUndoable(WallwatchError):
    status, code, title = 409, "not_undoable", "This remedy cannot be undone"
