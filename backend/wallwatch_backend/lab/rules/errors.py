"""Why a cause does not become a rule, or a decision on one is refused."""

from wallwatch_backend.kit.problems import WallwatchError


class NoRuleForCause(WallwatchError):
    status, code, title = 409, "lab_no_rule", "No rule can express the cause"


class AlreadyProposed(WallwatchError):
    status, code, title = 409, "lab_rule_exists", "The cause is a rule already"


class AlreadyDecided(WallwatchError):
    status, code, title = 409, "lab_rule_decided", "The rule is in this state already"


class RuleUnusable(WallwatchError):
    status, code, title = 409, "lab_rule_unusable", "This version cannot use the rule"
