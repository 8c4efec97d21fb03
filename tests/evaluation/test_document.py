"""The page about the evaluation: complete, and never out of date unnoticed."""

from pathlib import Path

import orjson
import pytest
from tests.evaluation import document
from tests.evaluation.scoring.cases import cases
from tests.evaluation.scoring.match import Judged
from tests.evaluation.scoring.scores import Result, summary

from wallwatch.recordings import Truth

MISSED = Judged(Truth("S4", "C4", "host01", "0000:17:00.0", 60_000, 200_000), 60_000, 200_000, "missed")
RESULT = Result("random-1001", 10.0, 0, 3_600_000, 1, 3_600_000, 1000, [MISSED], [])


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(document, "RESULTS", tmp_path / "evaluation.json")
    monkeypatch.setattr(document, "PAGE", tmp_path / "evaluation.md")
    monkeypatch.setattr(document, "RAW_HOSTS", tmp_path / "evaluation-raw-hosts.json")
    monkeypatch.setattr(document, "DEMO_HOUR", tmp_path / "evaluation-demo-hour.json")
    figures = {**summary([RESULT]), "cases": cases([RESULT])}
    document.write({"held-out": figures, "catalogue": figures}, "Made by a test.")
    return tmp_path


def test_the_page_has_rules_figures_worst_cases_and_how_it_was_made(written: Path) -> None:
    page = (written / "evaluation.md").read_text()
    for words in ("Missed", "macro F1", "| S4 | 1 | 0 | 1 |", "missed: S4 in random-1001, host01 0000:17:00.0, at 60 s", "Made by a test."):
        assert words in page
    assert "{" not in page
    assert page.index("held out") < page.index("The catalogue of scenarios")


def test_a_page_that_does_not_match_its_figures_is_out_of_date(written: Path) -> None:
    results, page = written / "evaluation.json", written / "evaluation.md"
    assert document.main(["--check"], results, page) == 0
    kept = orjson.loads(results.read_bytes())
    kept["sets"]["held-out"]["recordings"] = 17
    results.write_bytes(orjson.dumps(kept))
    assert document.main(["--check"], results, page) == 1
    assert document.main([], results, page) == 0
    assert "17 recordings" in page.read_text()


@pytest.mark.parametrize(("right", "first"), [(2, "played at the level"), (4, "held out")])
def test_the_world_in_which_the_classifier_does_worse_comes_first(written: Path, right: int, first: str) -> None:
    results, page = written / "evaluation.json", written / "evaluation.md"
    kept = orjson.loads(results.read_bytes())
    for figures in kept["sets"].values():
        figures["macro_f1"] = 0.9
    results.write_bytes(orjson.dumps(kept))
    host = {"case": "a host", "healthy": False, "expected": ["S1"], "found": ["S1"], "wrong_ends": [], "false": [], "delay_s": 4.0}
    hosts = [{**host, "outcome": "right", "wrong_causes": []}] * right + [
        {**host, "outcome": "wrong cause", "wrong_causes": ["S1: C1"]}
    ] * (4 - right)
    figures = {
        "cases": 4,
        "right": right,
        "symptoms": 4,
        "symptoms_found": 4,
        "wrong_causes": 4 - right,
        "healthy": 0,
        "healthy_with_findings": 0,
    }
    document.RAW_HOSTS.write_bytes(orjson.dumps({"summary": figures, "hosts": hosts}))
    assert document.main([], results, page) == 0
    headings = [line for line in page.read_text().splitlines() if line.startswith("## ")]
    assert first in headings[1]
    assert "| S1 | 4 | 4 | 0 |" in page.read_text()
