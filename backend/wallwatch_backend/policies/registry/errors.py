"""Errors of policies."""

from wallwatch_backend.kit.problems import InvalidInput, WallwatchError


class BadPolicy(InvalidInput):
    code, title = "bad_policy", "The policy is invalid"


class PolicyExists(WallwatchError):
    status, code, title = 409, "policy_exists", "There is a policy of this name"


class PolicyOfCatalogue(WallwatchError):
    status, code, title = 409, "policy_of_catalogue", "A policy of the catalogue cannot be changed"


class NoDraft(WallwatchError):
    status, code, title = 409, "no_draft", "There is no draft to delete"


class TooManyPolicies(WallwatchError):
    status, code, title = 409, "too_many_policies", "The limit of enabled policies is reached"
