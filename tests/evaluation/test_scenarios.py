"""The drawn scenarios: valid, the same for the same seed, and blind to the classifier."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from tests.evaluation.draw import HELD_OUT, draw, quiet_day
from tests.evaluation.ingredients import BENIGN, CAUSES
from tests.evaluation.sets import DEVELOPMENT, HELD, wanted

from wallwatch_local.paths import binary

ALL = [*(draw(seed) for seed in (*range(1, DEVELOPMENT + 1), *range(HELD_OUT + 1, HELD_OUT + HELD + 1))), quiet_day(1)]


def test_there_are_two_hundred_held_out_scenarios_and_none_is_one_of_the_development() -> None:
    held, development = ({one.name for one in wanted(name, None)} for name in ("held-out", "development"))
    assert len(held) >= 200
    assert not held & development


def test_the_same_seed_draws_the_same_scenario_and_another_seed_another() -> None:
    assert draw(7) == draw(7)
    assert len({one.text for one in ALL}) == len(ALL)


def test_every_cause_and_every_benign_event_is_drawn_often() -> None:
    comments = [one.text.splitlines()[0] for one in ALL]
    assert all(sum(name in comment for comment in comments) >= 20 for name in CAUSES)
    assert all(sum(name in comment for comment in comments) >= 10 for name in BENIGN)


def test_cards_with_and_without_each_flaw_are_drawn() -> None:
    overrides = [override for one in ALL for override in yaml.safe_load(one.text).get("overrides", [])]
    assert {override["firmware"] for override in overrides} == {"flawed", "evicting", "fixed"}
    assert {override["driver"] for override in overrides} == {"flawed", "fixed"}
    assert {one.interval_s for one in ALL} == {1, 2, 5, 10}


@pytest.mark.integration
def test_the_simulator_takes_what_is_drawn(tmp_path: Path) -> None:
    for one in ALL[::10]:
        file = tmp_path / f"{one.name}.yaml"
        file.write_text(one.text)
        checked = subprocess.run([binary("fleetsim"), "validate", file], capture_output=True, text=True, check=False)
        assert checked.returncode == 0, f"{one.name}: {checked.stderr}"


def test_what_draws_scenarios_imports_nothing_of_the_classifier_and_reads_no_catalogue() -> None:
    unseen, seen = ["draw.py"], set()
    while unseen:
        file = unseen.pop()
        text = (Path(__file__).parent / file).read_text()
        seen.add(file)
        assert "catalogue" not in text
        assert "symptoms.yaml" not in text
        for node in ast.walk(ast.parse(text)):
            modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            modules += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            for module in modules:
                own = module.removeprefix("tests.evaluation.").replace(".", "/") + ".py"
                if module.startswith("tests.") and own not in seen:
                    unseen.append(own)
                assert module.partition(".")[0] in {*sys.stdlib_module_names, "yaml", "tests"}, f"{file} imports {module}"
    assert {"draw.py", "ingredients.py"} <= seen
