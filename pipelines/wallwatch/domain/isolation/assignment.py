"""Which promise a VF has: that of its CNI configuration, otherwise that of the first rule that matches it.

The job and the backend's preview use the same function, so what a preview shows is what is judged.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import orjson

from wallwatch.domain import matching
from wallwatch.domain.isolation.readings import MBPS
from wallwatch.domain.isolation.slo import BadSlo, Slo

CNI_KEYS = ("min_mbps", "max_mbps", "p50_us", "p99_us", "loss")
"""Keys of an SLO that is written into the CNI configuration."""


class Facts(NamedTuple):
    """What rules match on."""

    host: str
    pci: str
    vf: int
    rack: str = ""
    model: str = ""
    pod: str = ""
    """Namespace and name, as the runtime reported them; empty when unknown."""
    cni_slo: str = ""
    """`wallwatch.io/slo` of the CNI configuration: the name of a class, or JSON; empty without one."""

    @property
    def tenant(self) -> str:
        """Namespace of the pod; empty when unknown.

        >>> Facts("h", "p", 0, pod="team-a/web-1").tenant, Facts("h", "p", 0, pod="web-1").tenant
        ('team-a', '')
        """
        namespace, slash, _ = self.pod.partition("/")
        return namespace if slash else ""

    def labels(self) -> dict[str, Collection[str]]:
        """By the names that matchers use."""
        pod = self.pod.partition("/")[2] or self.pod
        values = {"host": self.host, "pci": self.pci, "vf": str(self.vf), "rack": self.rack, "model": self.model, "pod": pod}
        values["namespace"] = self.tenant
        return {name: (value,) for name, value in values.items() if value}


class Condition(NamedTuple):
    """One matcher of a rule."""

    name: str
    op: matching.Operator
    value: str


@dataclass(frozen=True, slots=True)
class Rule:
    """Assigns a class to the VFs for which all conditions hold."""

    conditions: tuple[Condition, ...]
    slo_class: str


@dataclass(frozen=True, slots=True)
class Book:
    """SLO classes by name, and the ordered rules."""

    classes: Mapping[str, Slo] = field(default_factory=dict)
    rules: Sequence[Rule] = ()


class Assigned(NamedTuple):
    """The promise to a VF and where it comes from."""

    slo: Slo
    name: str | None
    source: Literal["cni", "rule"]
    rule: int | None


def slo_of(min_mbps: float, max_mbps: float, p50_us: float | None, p99_us: float | None, loss: float | None) -> Slo:
    """An SLO from the values that people write: Mbit/s instead of bit/s.

    >>> slo_of(100, 1000, None, 50, 0.0)
    Slo(min_bps=100000000.0, max_bps=1000000000.0, p50_us=None, p99_us=50, loss=0.0, policed_bps=None)
    """
    return Slo(min_mbps * MBPS, max_mbps * MBPS, p50_us, p99_us, loss)


def assigned(facts: Facts, book: Book) -> tuple[Assigned | None, str]:
    """The promise to a VF, or None, and what is wrong with the SLO of its CNI configuration ("" if nothing).

    An SLO of the CNI configuration that cannot be used promises nothing by itself: the rules apply then, and the problem is reported.

    >>> book = Book({"gold": slo_of(100, 1000, None, None, None)}, [Rule((Condition("namespace", "=", "a"),), "gold")])
    >>> assigned(Facts("h", "p", 0, pod="a/web"), book)[0].name, assigned(Facts("h", "p", 0, pod="b/web"), book)
    ('gold', (None, ''))
    >>> assigned(Facts("h", "p", 0, pod="b/web", cni_slo="silver"), book)
    (None, "its CNI configuration names the SLO class 'silver', which does not exist")
    """
    problem = ""
    if facts.cni_slo:
        try:
            name, slo = _of_cni(facts.cni_slo, book)
            return Assigned(slo, name, "cni", None), ""
        except BadSlo as error:
            problem = f"its CNI configuration {error}"
    labels = facts.labels()
    for position, rule in enumerate(book.rules):
        if rule.slo_class in book.classes and all(matching.holds(c.op, c.value, labels.get(c.name, ())) for c in rule.conditions):
            return Assigned(book.classes[rule.slo_class], rule.slo_class, "rule", position), problem
    return None, problem


def _of_cni(text: str, book: Book) -> tuple[str | None, Slo]:
    text = text.strip()
    if not text.startswith("{"):
        if text not in book.classes:
            raise BadSlo(f"names the SLO class {text[:63]!r}, which does not exist")
        return text, book.classes[text]
    try:
        found = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise BadSlo(f"has an SLO that is not JSON: {error}") from error
    return None, read_inline(found)


def read_inline(found: Any) -> Slo:
    """Read the SLO of a CNI configuration, `{"min_mbps", "max_mbps", "p50_us"?, "p99_us"?, "loss"?}`.

    Raises
    ------
    BadSlo
        When a key is unknown, `max_mbps` is missing, or a value is not a sensible number.
    """
    if not isinstance(found, dict):
        raise BadSlo("has an SLO that is not a JSON object")
    unknown = sorted(set(found) - set(CNI_KEYS))
    if unknown:
        raise BadSlo(f"has an SLO with the unknown key {str(unknown[0])[:40]!r}; the keys are {', '.join(CNI_KEYS)}")
    values = {key: _number(key, found.get(key)) for key in CNI_KEYS}
    low, high = values["min_mbps"] or 0.0, values["max_mbps"]
    if high is None or high <= 0.0:
        raise BadSlo("has an SLO without max_mbps, which must be above 0")
    if low > high:
        raise BadSlo(f"has an SLO whose min_mbps {low:g} is above its max_mbps {high:g}")
    if (values["loss"] or 0.0) >= 1.0:
        raise BadSlo(f"has an SLO whose loss is {values['loss']:g}; it is a share of packets, below 1")
    return slo_of(low, high, values["p50_us"], values["p99_us"], values["loss"])


def _number(key: str, value: Any) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value < 0:
        raise BadSlo(f"has an SLO whose {key} is not a number of at least 0: {str(value)[:40]!r}")
    return float(value)
