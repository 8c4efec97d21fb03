"""Why a rule is not created or changed."""

from wallwatch_backend.kit.problems import WallwatchError


class NameTaken(WallwatchError):
    status, code, title = 409, "rule_name_taken", "Another rule has this name"


class NothingToMatch(WallwatchError):
    status, code, title = 422, "rule_matches_everything", "A rule needs a matcher for a symptom or a cause"
