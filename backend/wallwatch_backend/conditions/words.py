"""Words that texts of several kinds share."""


def minutes_of(seconds: float) -> int:
    """Whole minutes, at least one.

    >>> minutes_of(1210.0), minutes_of(5.0)
    (20, 1)
    """
    return max(1, round(seconds / 60))
