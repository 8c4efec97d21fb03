"""Why a rollout does not change."""

from wallwatch_backend.kit.problems import WallwatchError


class WrongState(WallwatchError):
    status, code, title = 409, "wrong_state", "The rollout's state does not allow this"
