"""Errors of webhooks."""

from wallwatch_backend.kit.problems import InvalidInput


class BadUrl(InvalidInput):
    code, title = "bad_url", "Events cannot be sent to this address"


class UnfitRoute(InvalidInput):
    code, title = "unfit_route", "This format does not go with this grouping or repetition"


class UnfitReceiver(InvalidInput):
    code, title = "unfit_receiver", "This format needs something that is missing"
