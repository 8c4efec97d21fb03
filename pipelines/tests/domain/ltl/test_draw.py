"""Pictures of monitors."""

import math
import re
from itertools import pairwise
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


def circles(picture: ElementTree.Element) -> list[tuple[float, float, str]]:
    """Centre and class of each state's outer circle, in the order of states."""
    found = []
    for group in picture.findall(f"{SVG}g"):
        circle = group.findall(f"{SVG}circle")[0]
        found.append((float(circle.get("cx", "")), float(circle.get("cy", "")), circle.get("class", "")))
    return found


PICTURES = ["G(a -> X b)", "(O -> X C) & (!C U O)", "F a & F b & F c", "G F a", "a U (b U c)", "G(a -> F b)"]


@pytest.mark.parametrize("formula", PICTURES)
def test_states_are_apart_inside_the_picture_and_in_columns_by_their_distance_from_the_start(formula: str) -> None:
    monitor = compiled(formula)
    picture = ElementTree.fromstring(draw.svg(monitor))
    places = [(x, y) for x, y, _ in circles(picture)]
    distance = {0: 0}
    for state in (order := [0]):
        for target in monitor.successors(state):
            if target not in distance:
                distance[target] = distance[state] + 1
                order.append(target)
    columns = sorted({x for x, _ in places})
    assert [columns.index(x) for x, _ in places] == [distance[state] for state in range(len(places))]
    assert all(b - a == columns[1] - columns[0] >= 150 for a, b in pairwise(columns))
    for state, (x, y) in enumerate(places):
        assert 60 <= x <= float(picture.get("width", "")) - 60
        assert 60 <= y <= float(picture.get("height", "")) - 60
        for other in range(state):
            assert abs(y - places[other][1]) >= 100 or x != places[other][0]
    assert {y % 120 for x, y in places if columns.index(x) % 2 == 0} == {70}
    assert {y % 120 for x, y in places if columns.index(x) % 2} <= {10}  # half a row lower


@pytest.mark.parametrize("formula", PICTURES)
def test_an_edge_goes_from_the_rim_of_its_state_to_the_rim_of_the_next_and_bends_to_its_left(formula: str) -> None:
    monitor = compiled(formula)
    picture = ElementTree.fromstring(draw.svg(monitor))
    places = [(x, y) for x, y, _ in circles(picture)]
    paths = iter([path.get("d", "") for path in picture.findall(f"{SVG}path") if path.get("class") == "e"])
    labels = iter([text for text in picture.findall(f"{SVG}text") if text.get("class") == "l"])
    for state, verdict in enumerate(monitor.verdicts):
        for target, guard in draw.guards(monitor, state).items() if verdict == "?" else ():
            numbers = [float(each) for each in re.findall(r"-?\d+", next(paths))]
            label = next(labels)
            assert label.text == guard
            (x1, y1), (x2, y2) = places[state], places[target]
            begin, end = numbers[:2], numbers[-2:]
            if target == state:
                assert (begin[0] + end[0], begin[1]) == (2 * x1, end[1])
                assert all(12 <= math.dist(each, (x1, y1)) <= 23 for each in (begin, end))
                assert max(begin[1], numbers[3], numbers[5], float(label.get("y", ""))) < y1
                assert numbers[2] < begin[0] < x1 < end[0] < numbers[4]
                continue
            length = math.dist((x1, y1), (x2, y2))
            for at, centre, away in ((begin, (x1, y1), (x2, y2)), (end, (x2, y2), (x1, y1))):
                assert math.dist(at, centre) == pytest.approx(22, abs=1)
                assert math.dist(at, away) == pytest.approx(length - 22, abs=1)
            side = [
                (x2 - x1) * (y - y1) - (y2 - y1) * (x - x1)
                for x, y in (numbers[2:4], (float(label.get("x", "")), float(label.get("y", "")) + 4))
            ]
            assert side[0] / length == pytest.approx(-0.12 * length, abs=1)
            assert side[1] / length == pytest.approx(-0.072 * length, abs=1)
            assert math.dist(numbers[2:4], (x1, y1)) == pytest.approx(math.dist(numbers[2:4], (x2, y2)), abs=1)


def test_states_show_their_verdict_and_whether_one_can_follow() -> None:
    monitor = compiled("G(a -> F b) & (c -> X d)")
    assert {"?", "F"} <= set(monitor.verdicts)
    assert monitor.hopeless
    found = [kind for _, _, kind in circles(ElementTree.fromstring(draw.svg(monitor)))]
    lines = [line for line in draw.dot(monitor).splitlines() if "label=" in line and "->" not in line]
    for state, verdict in enumerate(monitor.verdicts):
        hopeless = state in monitor.hopeless
        assert found[state] == f"s v-{'Q' if verdict == '?' else verdict}{' h' if hopeless else ''}"
        assert ("style=dashed" in lines[state]) is hopeless
        assert ("doublecircle" in lines[state]) is (verdict != "?")


def test_a_guard_of_many_words_is_shortened_and_the_widest_is_the_rest() -> None:
    five = "(a & b & c) | (a & b & !c & d) | (a & !b & c & e) | (!a & b & d & !e & f) | (!a & !b & f & c & !d)"
    for state_guards in [draw.guards(compiled(f"X ({five})"), state) for state in range(2)]:
        for guard in state_guards.values():
            assert guard.count(" | ") <= 4
    assert "otherwise" in draw.guards(compiled(f"({five}) U false | X ({five})"), 1).values()
