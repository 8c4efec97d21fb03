"""Rates of VM pairs: figure 7b, and both hoses at once."""

from fractions import Fraction

import pytest

from wallwatch.domain.isolation.shares.vm_pairs import Vm, ingress_shares, pair_rates
from wallwatch.domain.isolation.shares.water_filling import BadRequest, MinimaExceedCapacity

NICS = {"h1": 20, "h2": 20, "h3": 20}
VMS = {"A": Vm("h1", 4, 12), "B": Vm("h2", 4, 12), "C": Vm("h3", 4, 12), "D": Vm("h3", 4, 12)}


@pytest.mark.parametrize(
    ("pairs", "rates"), [("AC", [12]), ("AC BC", [6, 6]), ("AC BC BD", [5, 5, 7]), ("AC BC BD AD", [5, 5, 5, 5]), ("", [])]
)
def test_figure_7b_is_exact(pairs: str, rates: list[int]) -> None:
    named = [(pair[0], pair[1]) for pair in pairs.split()]
    assert list(pair_rates(NICS, VMS, named).values()) == rates


def test_senders_share_a_receiver_in_proportion_to_their_maxima() -> None:
    vms = {"a": Vm("h1", 0, 9), "b": Vm("h2", 0, 3), "c": Vm("h3", 0, 10)}
    assert pair_rates(NICS, vms, [("a", "c"), ("b", "c")]) == {("a", "c"): Fraction(15, 2), ("b", "c"): Fraction(5, 2)}


def test_a_host_sends_no_more_than_its_line_rate() -> None:
    vms = {"a": Vm("h1", 0, 20), "b": Vm("h1", 0, 20), "c": Vm("h2", 0, 20), "d": Vm("h3", 0, 20)}
    assert pair_rates(NICS, vms, [("a", "c"), ("b", "d")]) == {("a", "c"): 10, ("b", "d"): 10}


def test_a_sender_whose_maximum_is_zero_sends_nothing() -> None:
    assert pair_rates(NICS, {**VMS, "A": Vm("h1", 0, 0)}, [("A", "C"), ("B", "C")]) == {("A", "C"): 0, ("B", "C"): 12}


def test_a_silent_receiver_keeps_its_minimum() -> None:
    assert ingress_shares(NICS, VMS, [("A", "C")]) == {"A": 4, "B": 4, "C": 12, "D": 4}


@pytest.mark.parametrize(
    ("vms", "pairs", "words"),
    [
        (VMS, [("A", "Z")], "pair A -> Z: unknown VM Z"),
        (VMS, [("A", "C"), ("A", "C")], "given twice"),
        ({"A": Vm("h9", 0, 1)}, [], "VM A: unknown NIC h9"),
    ],
)
def test_unknown_names_are_refused(vms: dict[str, Vm], pairs: list[tuple[str, str]], words: str) -> None:
    with pytest.raises(BadRequest, match=words):
        pair_rates(NICS, vms, pairs)


def test_overbooked_minima_are_refused() -> None:
    with pytest.raises(MinimaExceedCapacity, match="24"):
        pair_rates(NICS, {name: Vm("h3", 6, 12) for name in "ABCD"}, [("A", "B")])
