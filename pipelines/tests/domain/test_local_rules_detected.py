"""A local rule is detected by the stage: in a process of its own, since the catalogue's conditions are read once."""

import json
import os
import subprocess
import sys

import pytest

ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}

PROGRAM = """
import json, sys
from wallwatch.domain.catalogue import local_rules
from wallwatch.domain.catalogue.models import AnotherRule
from wallwatch.domain.catalogue.rule_of_cause import Condition, Found, rule_of
model, masks = sys.argv[1], float(sys.argv[2])
cause = Found("S1", None, [Condition("egress_masks", ">=", 12, 11, "egress_masks is at least 12")], "lab card", model, "Measured.")
local_rules.use(local_rules.LocalRules(rules=(AnotherRule.model_validate(rule_of(cause).rule),)))
from wallwatch_testing.stories import detect, offload, port
story = [m for s in range(0, 100, 10) for m in (port(s), offload(s, {"masks_egress": 3, "masks_ingress": 3}))]
story += [m for s in range(100, 200, 10) for m in (port(s), offload(s, {"masks_egress": masks, "masks_ingress": 3}))]
story += [m for s in range(200, 400, 10) for m in (port(s), offload(s, {"masks_egress": 3, "masks_ingress": 3}))]
keys = ("symptom", "rule", "state", "title")
print(json.dumps([[f[k] for k in keys] for f in detect(story)]))
"""
TITLE = "State in which the lab saw S1"


@pytest.mark.parametrize(
    ("model", "masks", "found"),
    [
        ("CX-6", 12, [["unexplained", "L1/1", "active", TITLE], ["unexplained", "L1/1", "cleared", TITLE]]),
        ("CX-6", 11, []),
        ("CX-5", 40, []),
    ],
    ids=["reached and left", "just below", "of another model"],
)
def test_a_local_rule_is_raised_and_cleared_on_rnics_of_its_model(model: str, masks: float, found: list[list[str]]) -> None:
    command = [sys.executable, "-c", PROGRAM, model, str(masks)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, env=ENVIRONMENT)
    assert done.returncode == 0, done.stderr
    said = [one for one in json.loads(done.stdout) if one[1] == "L1/1"]
    seen: list[list[str]] = []
    for one in said:
        if one not in seen:
            seen.append(one)
    assert seen == found


def test_rules_cannot_change_once_the_conditions_were_read() -> None:
    program = (
        "from wallwatch.domain.catalogue import load, local_rules\nload.other_conditions()\nlocal_rules.use(local_rules.LocalRules())\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=300, env=ENVIRONMENT)
    assert "local rules must be set before the catalogue's conditions are read" in done.stderr
