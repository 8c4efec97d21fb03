"""What the job `forecast` says of a challenger on live data, for whoever wants to promote it."""

from __future__ import annotations

import psycopg

from wallwatch.forecasting.histories import store_queries

_WHY = {
    "worse": "it is worse than the champion",
    "no_difference": "it is not better than the champion by more than chance",
    "not_enough": "a day is needed, as loads have the rhythm of a day",
}


class NotBetter(Exception):
    """The text says how the model fares and what to do."""


def better(libpq_url: str, model: str, champion: str) -> str:
    """How much better than the champion a model is on live data, in a sentence.

    Raises
    ------
    NotBetter
        When it is not, or nothing is known of it.
    psycopg.Error
        When the store does not answer.
    """
    with psycopg.connect(libpq_url, connect_timeout=5, application_name="wallwatch-promote") as connection:
        told = store_queries.judged(connection, model)
    if not told or told["champion"] != champion:
        raise NotBetter(
            f"nothing is known of {model} beside {champion} on live data: only the challenger is compared, while the job `forecast` runs. "
            "--unjudged promotes it all the same"
        )
    losses = "" if told["loss"] is None else f": loss {told['loss']} against {told['champion_loss']} over {told['hours']} hours"
    if told["verdict"] != "better":
        raise NotBetter(
            f"{model} is not promoted, {_WHY[told['verdict']]}{losses or ': 0 hours so far'}. --unjudged promotes it all the same"
        )
    return f"better than {champion} on live data{losses}"
