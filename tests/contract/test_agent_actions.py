"""The actions that the agent has compiled in are the catalogue's: the same names, parameters, types and ranges."""

import json
import subprocess
from typing import Any

import pytest
import yaml

from wallwatch.domain.catalogue.remedy_models import FORMATS
from wallwatch_local.paths import REPOSITORY, binary

CATALOGUE = REPOSITORY / "pipelines/wallwatch/domain/catalogue/remedies.yaml"
# What the catalogue says beyond what the agent must enforce: words for people.
WORDS = {"label", "meaning"}


@pytest.fixture(scope="module")
def compiled_in() -> dict[str, Any]:
    done = subprocess.run([str(binary("wallwatch-agent")), "actions", "--json"], capture_output=True, text=True, check=True)
    return {action["action"]: action for action in json.loads(done.stdout)["actions"]}


@pytest.fixture(scope="module")
def catalogue() -> dict[str, Any]:
    found = yaml.safe_load(CATALOGUE.read_text())
    remedies: dict[str, Any] = found["remedies"]
    return remedies | {name: {**action, "internal": True} for name, action in found["internal"].items()}


def test_agent_and_catalogue_know_the_same_actions(compiled_in: dict[str, Any], catalogue: dict[str, Any]) -> None:
    assert set(compiled_in) == set(catalogue)


def test_every_action_can_be_tried_and_applied_and_those_that_the_catalogue_calls_reversible_undone(
    compiled_in: dict[str, Any], catalogue: dict[str, Any]
) -> None:
    for name, action in compiled_in.items():
        if catalogue[name].get("internal"):
            assert action["operations"] == ["dry_run"], name
            continue
        undo = ["undo"] if catalogue[name].get("reversible", True) else []
        assert action["operations"] == ["dry_run", "apply", *undo], name


def in_full(written: dict[str, Any]) -> dict[str, Any]:
    """A parameter of the catalogue with its format expanded, without texts."""
    known = {**FORMATS.get(written.get("format", ""), {}), **written}
    return {key: value for key, value in known.items() if key not in WORDS | {"format"}}


def test_parameters_have_the_same_types_ranges_and_units(compiled_in: dict[str, Any], catalogue: dict[str, Any]) -> None:
    for name, action in compiled_in.items():
        enforced = {one["name"]: {key: value for key, value in one.items() if key != "name"} for one in action["params"]}
        params = catalogue[name]["params"].items()
        written = {param: in_full(one) for param, one in params}
        assert enforced == written, name


def test_both_require_the_same_parameters(compiled_in: dict[str, Any], catalogue: dict[str, Any]) -> None:
    for name, action in compiled_in.items():
        assert sorted(action["require_any_of"]) == sorted(catalogue[name].get("require_any_of", [])), name
