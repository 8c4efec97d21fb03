"""Lines of Prometheus's text format, for families that are too large for the client library, which needs all samples in memory.

https://prometheus.io/docs/instrumenting/exposition_formats/
"""

from collections.abc import Iterable, Sequence

from wallwatch_backend.fleet.exposition.families import Family

_ESCAPES = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})


def heading(family: Family) -> str:
    return f"# HELP {family.name} {family.help}\n# TYPE {family.name} gauge\n"


def lines(family: Family, rows: Iterable[tuple[Sequence[str | None], float]]) -> str:
    r"""Samples of a family: label values in the family's order, and the value. An unknown label value is empty.

    >>> lines(Family("up", ("host", "model"), ""), [(('a"b', None), 1.0)])
    'up{host="a\\"b",model=""} 1\n'
    """
    labels = ",".join(f'{name}="%s"' for name in family.labels)
    pattern = f"{family.name}{{{labels}}} %.12g\n"
    return "".join([pattern % (*((value or "").translate(_ESCAPES) for value in values), number) for values, number in rows])
