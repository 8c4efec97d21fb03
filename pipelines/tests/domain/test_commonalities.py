"""What sick hosts have in common, against chance itself."""

import random

import pytest
from scipy.stats import fisher_exact

from wallwatch.domain.commonalities import Property, chance_of, shared_properties

OLD, NEW = Property("firmware", "old"), Property("firmware", "new")


def fleet_of(hosts: int, seed: int) -> dict[str, set[Property]]:
    """Hosts in racks of eight, with one of three models and one of four versions of firmware."""
    chosen = random.Random(seed)
    return {
        f"h{n}": {
            Property("rack", str(n // 8)),
            Property("model", chosen.choice("abc")),
            Property("firmware", chosen.choice("1234")),
        }
        for n in range(hosts)
    }


@pytest.mark.parametrize(("hosts", "all_with", "sick", "sick_with"), [(40, 8, 6, 5), (100, 50, 10, 7), (9, 3, 3, 3), (30, 10, 5, 0)])
def test_the_chance_is_that_of_fishers_exact_test(hosts: int, all_with: int, sick: int, sick_with: int) -> None:
    table = [[sick_with, sick - sick_with], [all_with - sick_with, hosts - all_with - sick + sick_with]]
    assert chance_of(hosts, all_with, sick, sick_with) == pytest.approx(fisher_exact(table, alternative="greater").pvalue)


def test_a_fleet_without_a_pattern_is_named_one_rarely() -> None:
    properties = fleet_of(200, seed=1)
    draw = random.Random(2)
    named = sum(bool(shared_properties(properties, set(draw.sample(sorted(properties), 12)))[0]) for _ in range(300))
    assert named <= 15, "0.05 of 300 looks"


def test_a_pattern_is_found_among_others_and_the_rest_is_not_named() -> None:
    properties = fleet_of(200, seed=1)
    guilty = [host for host, has in properties.items() if Property("firmware", "3") in has]
    others = [host for host in properties if host not in guilty]
    found, tested = shared_properties(properties, {*guilty[:12], *others[:2]})
    assert [each.property for each in found] == [Property("firmware", "3")]
    assert (found[0].sick_with, found[0].all_with) == (12, len(guilty))
    assert found[0].lift == pytest.approx(12 / 14 / (len(guilty) / 200))
    assert tested > 1


def test_two_sick_hosts_are_an_anecdote_and_a_fleet_that_is_all_sick_has_nobody_to_compare_with() -> None:
    properties = {f"h{n}": {OLD if n < 2 else NEW} for n in range(1000)}
    assert shared_properties(properties, {"h0", "h1"}) == ([], 0)
    assert shared_properties(properties, set(properties)) == ([], 0)
