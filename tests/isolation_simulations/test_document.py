"""The page is what the code makes of the figures that lie next to it."""

import json

from tests.isolation_simulations.document import document
from tests.isolation_simulations.measure import figure_7b, pccb_join

from wallwatch.domain.isolation.simulation.report import Promise, simulate
from wallwatch.domain.isolation.simulation.scenario_file import read_scenario
from wallwatch_local.paths import REPOSITORY

FIGURES = json.loads((REPOSITORY / "docs" / "isolation-simulations.json").read_text(encoding="utf-8"))


def test_the_page_shows_the_figures() -> None:
    assert (REPOSITORY / "docs" / "isolation-simulations.md").read_text(encoding="utf-8") == document(FIGURES)


def test_figures_that_are_quick_to_compute_are_those_of_the_code() -> None:
    assert [list(row) for row in figure_7b()] == FIGURES["figure_7b"]
    alpha, delay, joined, _ = FIGURES["pccb"]["changes"][0]
    assert pccb_join(2, alpha, delay) == joined[0]


def test_a_bar_that_is_missed_is_said_so() -> None:
    bad = json.loads(json.dumps(FIGURES))
    bad["egress"][2][1]["fast_mbps"] = 1.0
    assert document(FIGURES).count("**not reached**") < document(bad).count("**not reached**")


def test_the_example_shows_a_promise_that_breaks_when_a_tenant_doubles_and_is_kept_with_the_mechanisms() -> None:
    example = json.loads((REPOSITORY / "docs" / "examples" / "vnic-what-if.json").read_text(encoding="utf-8"))
    states = [variant.vfs["vf0"].promise for variant in simulate(read_scenario(example))]
    assert states == [Promise.KEPT, Promise.KEPT, Promise.BROKEN, Promise.KEPT]
