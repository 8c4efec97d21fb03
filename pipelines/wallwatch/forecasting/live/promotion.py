"""The comparison of a challenger on live data by the job `forecast`, which a promotion requires."""

from __future__ import annotations

import psycopg

from wallwatch.forecasting.histories import store_queries

_WHY = {
    "worse": "it is worse than the champion",
    "no_difference": "it is not significantly better than the champion",
    "not_enough": "the comparison requires a day, because loads have a daily rhythm",
}


class NotBetter(Exception):
    """The message says how the model compares and what to do."""


def better(libpq_url: str, model: str, champion: str) -> str:
    """How much better than the champion a model is on live data, as a sentence.

    Raises
    ------
    NotBetter
        When it is not better, or has not been compared.
    psycopg.Error
        When the store does not answer.
    """
    with psycopg.connect(libpq_url, connect_timeout=5, application_name="wallwatch-promote") as connection:
        comparison = store_queries.judged(connection, model)
    if not comparison or comparison["champion"] != champion:
        raise NotBetter(
            f"{model} has not been compared with {champion} on live data: the job `forecast` compares only the challenger. "
            "Use --unjudged to promote it anyway"
        )
    losses = f": loss {comparison['loss']} vs. {comparison['champion_loss']} over {comparison['hours']} hours"
    if comparison["loss"] is None:
        losses = ""
    if comparison["verdict"] != "better":
        raise NotBetter(
            f"{model} is not promoted, {_WHY[comparison['verdict']]}{losses or ': 0 hours so far'}. Use --unjudged to promote it anyway"
        )
    return f"better than {champion} on live data{losses}"
