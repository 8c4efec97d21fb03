"""Is a property more frequent among sick hosts than chance explains? Pure; the hosts are counted elsewhere."""

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from typing import Literal

FAMILY_ERROR = 0.05
"""At most one look in twenty at a fleet without any pattern names one: the usual bound, here for all its tests together."""
FEWEST_HOSTS = 3
"""Two hosts share something by definition of a fleet: what only two sick hosts have in common is an anecdote."""

Dimension = Literal["model", "firmware", "rack", "tenant", "change"]


@dataclass(frozen=True)
class Property:
    """What a host may have: `("firmware", "22.36.1010")`."""

    dimension: Dimension
    value: str


@dataclass(frozen=True)
class Shared:
    """A property that sick hosts have more often than the fleet does."""

    property: Property
    sick_with: int
    all_with: int
    lift: float
    """Its share of the sick hosts over its share of all hosts."""
    chance: float
    """How probable it is that a fleet without any pattern shows as much in any of the tests."""


def chance_of(hosts: int, all_with: int, sick: int, sick_with: int) -> float:
    """Probability that at least `sick_with` of `sick` hosts, drawn blindly, have a property that `all_with` of all hosts have.

    Fisher's exact test, one-sided.

    >>> round(252 * chance_of(hosts=10, all_with=5, sick=5, sick_with=5), 9)  # one of 10 over 5 = 252 selections
    1.0
    >>> chance_of(hosts=10, all_with=5, sick=5, sick_with=0)
    1.0
    """
    from scipy.stats import hypergeom  # imported here: it takes half a second, and a healthy fleet never needs it

    return float(min(1.0, hypergeom.sf(sick_with - 1, hosts, all_with, sick))) if sick_with > 0 else 1.0


def shared_properties(properties: Mapping[str, Set[Property]], sick: Set[str]) -> tuple[list[Shared], int]:
    """Return what the sick hosts share beyond chance, least probable first, and how many properties were tested.

    Hosts are counted, not RNICs: the RNICs of a host share its rack, its kernel and its fate, so each counted as a witness of its own
    would make any rack with a broken host look guilty. The bound is Holm's, over all that could have been named.

    Parameters
    ----------
    properties
        What each host of the fleet has.
    sick
        The hosts with a symptom.

    Examples
    --------
    >>> old, new = Property("firmware", "old"), Property("firmware", "new")
    >>> fleet = {f"h{n}": frozenset({old if n < 8 else new}) for n in range(40)}
    >>> [(s.property.value, s.sick_with, s.all_with, s.lift) for s in shared_properties(fleet, {"h0", "h1", "h2", "h3", "h4", "h9"})[0]]
    [('old', 5, 8, 4.166666666666667)]
    >>> shared_properties(fleet, {"h0", "h9", "h17"})  # both were tested, and neither is more frequent than chance explains
    ([], 2)
    """
    hosts, ill = len(properties), len(sick & properties.keys())
    if ill < FEWEST_HOSTS or ill == hosts:
        return [], 0
    with_it = _counted(properties.values())
    among_sick = _counted(properties[host] for host in sick & properties.keys())
    # Chosen by what can be known before anybody is sick, or the correction would be too mild: what all have, or too few, is never named.
    tested = [p for p, count in with_it.items() if FEWEST_HOSTS <= count < hosts]
    found = sorted(
        (chance_of(hosts, with_it[p], ill, among_sick[p]), p.dimension, p.value, p)
        for p in tested
        if among_sick.get(p, 0) >= FEWEST_HOSTS and among_sick[p] * hosts > with_it[p] * ill
    )
    shared: list[Shared] = []
    so_far = 0.0
    for i, (chance, _, _, p) in enumerate(found):
        so_far = max(so_far, min(1.0, chance * (len(tested) - i)))
        if so_far > FAMILY_ERROR:
            break
        lift = (among_sick[p] / ill) / (with_it[p] / hosts)
        shared.append(Shared(p, among_sick[p], with_it[p], lift, so_far))
    return shared, len(tested)


def _counted(sets: Iterable[Set[Property]]) -> dict[Property, int]:
    counts: dict[Property, int] = {}
    for each in sets:
        for p in each:
            counts[p] = counts.get(p, 0) + 1
    return counts
