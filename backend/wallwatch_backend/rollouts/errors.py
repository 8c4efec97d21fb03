"""What can be wrong with a rollout."""

from wallwatch_backend.kit.problems import WallwatchError


class WrongState(WallwatchError):
    status, code, title = 409, "wrong_state", "The rollout's state does not allow this"
