"""Matchers: which incidents a silence or a webhook concerns."""

import doctest
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from wallwatch_backend.kit import matchers
from wallwatch_backend.kit.matchers import Matcher, labels_of, matches

INCIDENT = {
    "host": "gpu-01",
    "hosts": ["gpu-01", "gpu-02", "gpu-03"],
    "rack": "r7",
    "pci": "0000:3b:00.0",
    "symptom": "S1",
    "symptoms": ["S1", "S5"],
    "severity": "critical",
    "cause": "C5",
    "scope": "rack",
    "model": "CX-6",
    "fw_ver": "22.36.1010",
}


def test_the_examples_in_the_docstrings_hold() -> None:
    assert doctest.testmod(matchers).failed == 0


@pytest.mark.parametrize(
    ("name", "op", "value", "expected"),
    [
        ("host", "=", "gpu-02", True),
        ("host", "=", "gpu-04", False),
        ("host", "!=", "gpu-02", False),
        ("host", "!=", "gpu-04", True),
        ("host", "=~", "gpu-0[23]", True),
        ("host", "=~", "gpu", False),  # the whole value
        ("host", "!~", "cpu-.*", True),
        ("symptom", "=", "S5", True),
        ("symptom", "=~", "S5|S6", True),
        ("fw_ver", "=~", r"22\.36\..*", True),
        ("severity", "!~", "critical|warning", False),
        ("scope", "=", "rack", True),
    ],
)
def test_a_matcher_holds_when_any_value_is_as_wanted(name: str, op: str, value: str, expected: bool) -> None:
    assert Matcher(name=name, op=op, value=value).holds(labels_of(INCIDENT)) is expected


def test_all_matchers_must_hold() -> None:
    labels = labels_of(INCIDENT)
    rack, warning = Matcher(name="rack", value="r7"), Matcher(name="severity", value="warning")
    assert matches([rack], labels)
    assert not matches([rack, warning], labels)


@pytest.mark.parametrize(
    ("op", "value", "expected"), [("=", "", True), ("!=", "", False), ("=~", ".+", False), ("!~", ".+", True), ("=", "C5", False)]
)
def test_an_absent_label_is_the_empty_text(op: str, value: str, expected: bool) -> None:
    assert Matcher(name="cause", op=op, value=value).holds(labels_of({**INCIDENT, "cause": None})) is expected


@pytest.mark.parametrize("pattern", ["(", "a{2,1}", r"(a)\1", "(?=a)", "((a{100}){100}){100}"])
def test_an_expression_that_cannot_be_run_in_linear_time_is_refused_with_its_reason(pattern: str) -> None:
    with pytest.raises(ValidationError, match=r"not a valid RE2 regular expression: .+"):
        Matcher(name="host", op="=~", value=pattern)
    assert Matcher(name="host", op="=", value=pattern).value == pattern


def test_an_expression_that_backtracks_without_end_elsewhere_is_answered() -> None:
    assert not Matcher(name="host", op="=~", value="(a+)+(a+)+(a*)*b").holds({"host": ("a" * 5000,)})


@given(
    st.sampled_from([("=", "!="), ("=~", "!~")]),
    st.text(alphabet="ab.*", max_size=4),
    st.lists(st.text(alphabet="ab", max_size=3), max_size=3),
)
def test_each_negation_is_the_opposite(ops: tuple[str, str], value: str, values: list[str]) -> None:
    try:
        pair = [Matcher(name="host", op=op, value=value) for op in ops]
    except ValidationError:
        return  # not an expression
    for one, other in pairwise(pair):
        assert one.holds({"host": values}) is not other.holds({"host": values})


def test_labels_are_read_from_whatever_an_incident_has() -> None:
    assert labels_of({}) == {}
    assert labels_of({"host": 7, "hosts": None, "symptoms": ["S2", None], "top_cause": "C1"}) == {"symptom": ("S2",), "cause": ("C1",)}
