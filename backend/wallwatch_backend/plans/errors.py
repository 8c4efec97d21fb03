"""Why no plan is made, or one is not applied."""

from wallwatch_backend.kit.problems import InvalidInput, WallwatchError


class ModelUnknown(InvalidInput):
    code, title = "model_unknown", "The RNIC's model is not known, so that nothing can be expected of it"


class PlanInProgress(WallwatchError):
    status, code, title = 409, "plan_in_progress", "A plan is being made for this RNIC"


class PlanNotReady(WallwatchError):
    status, code, title = 409, "plan_not_ready", "The plan is not ready"


class PlanNotProven(WallwatchError):
    status, code, title = 409, "plan_not_proven", "The plan is not proven, so it is not applied"


class PlanEmpty(WallwatchError):
    status, code, title = 409, "plan_empty", "The plan has nothing to do"


class PlanExpired(WallwatchError):
    status, code, title = 409, "plan_expired", "The plan is too old; make a new one"


class PlanUsed(WallwatchError):
    status, code, title = 409, "plan_used", "The plan was applied already"


class PlanOfAnother(InvalidInput):
    code, title = "plan_of_another_rnic", "The plan was made for another RNIC"


BINDING_ERRORS = (PlanNotReady, PlanNotProven, PlanEmpty, PlanExpired, PlanUsed, PlanOfAnother)
