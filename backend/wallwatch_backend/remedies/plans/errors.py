"""Why a plan is not created or not applied."""

from wallwatch_backend.kit.problems import InvalidInput, WallwatchError


class ModelUnknown(InvalidInput):
    code, title = "model_unknown", "The RNIC's model is unknown, so nothing can be predicted for it"


class PlanInProgress(WallwatchError):
    status, code, title = 409, "plan_in_progress", "A plan is already being created for this RNIC"


class PlanNotReady(WallwatchError):
    status, code, title = 409, "plan_not_ready", "The plan is not ready"


class PlanNotProven(WallwatchError):
    status, code, title = 409, "plan_not_proven", "The plan is not proven, so it is not applied"


class PlanEmpty(WallwatchError):
    status, code, title = 409, "plan_empty", "The plan has nothing to do"


class PlanExpired(WallwatchError):
    status, code, title = 409, "plan_expired", "The plan has expired; create a new one"


class PlanUsed(WallwatchError):
    status, code, title = 409, "plan_used", "The plan was already applied"


class PlanOfAnother(InvalidInput):
    code, title = "plan_of_another_rnic", "The plan is for another RNIC"
