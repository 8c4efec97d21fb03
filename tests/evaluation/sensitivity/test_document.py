"""The page about moved thresholds."""

from pathlib import Path
from typing import Any

import orjson
import pytest
from tests.evaluation.sensitivity import document
from tests.evaluation.sensitivity.thresholds import thresholds

UNMOVED = {"macro_f1": 0.99, "f1": {"S1": 1.0, "S4": 0.95}, "cause_first": 0.98, "false_on_healthy": 0, "hosts_right": 110,
           "healthy_with_findings": 0, "delay_samples": 3.0, "hosts_delay_s": 4.1}  # fmt: skip
ONE = next(thresholds())


def moved(factor: float = 0.8, changed: dict[str, str] | None = None, **figures: Any) -> dict[str, Any]:
    return {"factor": factor, "value": 0.12, "recordings": 3, "played": 2, **UNMOVED, **figures, "changed": changed or {}}


def results(down: dict[str, Any], up: dict[str, Any], sampled: bool = False) -> dict[str, Any]:
    threshold = {"name": ONE.name, "kind": "raise", "owner": "S1", "concerns": ["S1"], "text": ">= 0.15", "value": 0.15, "sampled": sampled,
                 "moved": [down, up]}  # fmt: skip
    return {"made": "v1", "recordings": {"catalogue": 30}, "hosts": 113, "judged_again": 5, "proved": 7,
            "unmoved": {"all": UNMOVED, "sampled": {**UNMOVED, "macro_f1": 0.9}}, "thresholds": [threshold]}  # fmt: skip


def is_on_edge(**figures: Any) -> bool:
    found = results(moved(), moved(1.2, **figures))
    return document.on_edge(found, found["thresholds"][0])


def test_a_threshold_is_on_an_edge_from_a_loss_of_more_than_two_hundredths() -> None:
    assert not is_on_edge()
    assert not is_on_edge(macro_f1=0.97)
    assert is_on_edge(macro_f1=0.969)
    assert is_on_edge(f1={"S1": 0.97, "S4": 0.95})
    assert not is_on_edge(f1={"S1": 1.0, "S4": 0.5}), "S4 is none of its symptoms; the macro F1 shows it"
    assert is_on_edge(cause_first=0.95)


def test_a_threshold_is_on_an_edge_where_a_healthy_host_gets_a_finding() -> None:
    assert is_on_edge(false_on_healthy=1)
    assert is_on_edge(healthy_with_findings=1)


def test_a_threshold_is_on_an_edge_where_more_than_two_played_hosts_in_a_hundred_become_wrong() -> None:
    assert not is_on_edge(hosts_right=108)
    assert is_on_edge(hosts_right=107)


def test_a_gain_is_no_edge_but_is_shown() -> None:
    found = results(moved(), moved(1.2, macro_f1=0.995, hosts_right=112))
    assert "## On an edge (0 of 1)" in document.page(found)
    assert "0.995 (+0.005)" in document.page(found)
    assert "| +2 |" in document.page(found)


def test_each_threshold_is_in_one_table_with_its_reason() -> None:
    for up, section in (
        (moved(1.2), "No figure moves"),
        (moved(1.2, macro_f1=0.98), "not on an edge"),
        (moved(1.2, macro_f1=0.9), "On an edge"),
    ):
        page = document.page(results(moved(), up))
        assert page.count(ONE.why) == 1
        assert page.index(section) < page.index(ONE.why)


def test_a_longer_delay_is_shown_and_is_no_edge() -> None:
    found = results(moved(), moved(1.2, delay_samples=5.0))
    assert "## Moved figures, not on an edge (1)" in document.page(found)
    assert "| 5 samples, 4.1 s |" in document.page(found)


def test_thresholds_that_no_value_comes_near_are_said_to_be_untouched() -> None:
    near, far = moved(), {**moved(), "recordings": 0, "played": 0}
    assert "of 0 of the 1 numbers" in document.page(results(near, far))
    assert "of 1 of the 1 numbers" in document.page(results(far, far))
    assert "no value within a fifth" in document.page(results(far, far))


def test_numbers_that_changed_since_the_run_are_named() -> None:
    found = results(moved(), moved(1.2))
    others = [one.name for one in thresholds()][1:]
    assert f"out of date: {'; '.join(sorted(others))}." in document.page(found), "this run knew of one number only"
    found["thresholds"][0]["value"] = 0.2
    assert f"out of date: {'; '.join(sorted([ONE.name, *others]))}." in document.page(found)
    found["thresholds"] = [{**found["thresholds"][0], "name": one.name, "value": one.value} for one in thresholds()]
    assert "out of date" not in document.page(found)


def test_hosts_that_are_judged_otherwise_are_named() -> None:
    assert "late counters: missed" in document.page(results(moved(), moved(1.2, {"late counters": "missed"}, macro_f1=0.9)))


def test_a_constant_is_compared_with_the_part_that_it_is_judged_on() -> None:
    found = results(moved(macro_f1=0.9), moved(1.2, macro_f1=0.9), sampled=True)
    assert not document.on_edge(found, found["thresholds"][0])
    assert "## No figure moves by a fifth (1)" in document.page(found)


def test_a_page_that_is_out_of_date_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stored, written = tmp_path / "sensitivity.json", tmp_path / "sensitivity.md"
    document.write(results(moved(), moved(1.2)), stored, written)
    assert document.main(["--check"], stored, written) == 0
    stored.write_bytes(orjson.dumps(results(moved(), moved(1.2, macro_f1=0.5))))
    assert document.main(["--check"], stored, written) == 1
    assert "make generate" in capsys.readouterr().err
    assert document.main([], stored, written) == 0
    assert document.main(["--check"], stored, written) == 0


def test_the_summary_names_what_stands_on_an_edge() -> None:
    assert ONE.name in document.summary(results(moved(), moved(1.2, macro_f1=0.5)))
