"""Pictures of monitors."""

from xml.etree import ElementTree

import pytest

from wallwatch.domain.ltl import draw
from wallwatch.domain.ltl.monitor import compiled

SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("formula", ["true", "G(a -> X b)", "(O -> X C) & (!C U O)", "F a & F b & F c & F d", "G F a"])
def test_every_state_and_every_edge_before_a_verdict_is_drawn(formula: str) -> None:
    monitor = compiled(formula)
    edges = [len(monitor.successors(state)) for state in range(len(monitor.verdicts))]
    before = [count for count, verdict in zip(edges, monitor.verdicts, strict=True) if verdict == "?"]
    picture = ElementTree.fromstring(draw.svg(monitor))
    assert len(picture.findall(f"{SVG}g")) == len(monitor.verdicts)
    assert len([path for path in picture.findall(f"{SVG}path") if path.get("class") == "e"]) == sum(before)
    assert draw.dot(monitor).count("->") == sum(edges) + 1


def test_guards_are_formulas_over_the_propositions() -> None:
    assert draw.guards(compiled("!C U O"), 0) == {0: "!C & !O", 1: "C & !O", 2: "O"}
