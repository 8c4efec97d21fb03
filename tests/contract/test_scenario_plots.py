"""The plots of the scenarios: what they draw of a recording."""

import math
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from scenario_plots import catalogue
from scenario_plots.draw import INK, INK_DARK, draw
from scenario_plots.recording import Interval, Recording
from scenario_plots.signals import PICTURES, Line, Panel, Picture
from wallwatch_local.hosts import SCENARIOS

PANEL = Panel("share", (Line("reoffload_ratio", "re-offloads"),), wall=(0.5, "limit"))
PICTURE = Picture("s1", "S1", "S1: a title", (PANEL,), ("cni_add",))


def sample(at_s: float, name: str = "rnic_offload", **fields: Any) -> dict[str, Any]:
    tags = {"host": "host01", "pci": "0000:17:00.0"} | ({"kind": "cni_add"} if name == "event" else {})
    return {"name": name, "timestamp": int(1767225600e9 + at_s * 1e9), "tags": tags, "fields": fields}


def recording(*truth: Interval) -> Recording:
    run = {"start": "2026-01-01T00:00:00Z", "interval_s": 2.0, "recorded_s": 20.0, "length_s": 20.0, "hosts": [{"rnics": [1, 2]}]}
    messages = [sample(at, reoffload_ratio=at / 20) for at in (2.0, 4.0, 6.0, 14.0, 16.0)]
    return Recording(run, [*messages, sample(3, "event", detail="x")], list(truth))


LASTING = Interval("S1", "C5", "host01", "0000:17:00.0", 5.0, None)


def test_a_line_is_broken_where_samples_are_missing() -> None:
    times, values = recording().series("host01", "0000:17:00.0", "reoffload_ratio")
    assert times == [2.0, 4.0, 6.0, 10.0, 14.0, 16.0]
    assert [math.isnan(value) for value in values] == [False, False, False, True, False, False]


def test_a_picture_has_its_words_as_text_and_colours_for_a_dark_page(tmp_path: Path) -> None:
    draw(PICTURE, recording(LASTING), tmp_path / "s1.svg")
    text = (tmp_path / "s1.svg").read_text()
    words = " ".join(part for part in ElementTree.fromstring(text).itertext())
    for expected in ("S1: a title", "share", "re-offloads", "limit 0", "event cni_add, 3 s", "seconds after the start"):
        assert expected in words
    assert f'[style*="fill: {INK}"]{{fill:{INK_DARK} !important}}' in text


def test_the_same_recording_gives_the_same_file(tmp_path: Path) -> None:
    for name in ("a.svg", "b.svg"):
        draw(PICTURE, recording(LASTING), tmp_path / name)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_a_scenario_without_its_symptom_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="S1 did not come in 20"):
        draw(PICTURE, recording(), tmp_path / "s1.svg")


def test_a_field_that_was_never_sent_is_an_error(tmp_path: Path) -> None:
    wanted = Picture("s1", "S1", "", (Panel("", (Line("no_such_field", ""),)),))
    with pytest.raises(ValueError, match="no_such_field"):
        draw(wanted, recording(LASTING), tmp_path / "s1.svg")


def test_each_symptom_has_a_picture_on_the_page() -> None:
    page = (SCENARIOS.parents[1] / "docs" / "scenarios.md").read_text()
    assert {picture.symptom for picture in PICTURES} == {f"S{number}" for number in range(1, 9)}
    for picture in PICTURES:
        assert f"(images/scenarios/{picture.scenario}.svg)" in page
        assert (catalogue.PLOTS / f"{picture.scenario}.svg").is_file()
