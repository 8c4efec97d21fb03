"""A description and a report of the lab, as a device and the command line write them."""

from __future__ import annotations

from typing import Any

DESCRIPTION: dict[str, Any] = {
    "protocol": "dut/1",
    "name": "simulated CX-6",
    "description": "A simulated ConnectX-6",
    "parameters": [
        {"name": "egress_masks", "kind": "integer", "component": "Mask table", "min": 1, "max": 64, "step": 1, "unit": "masks"},
        {"name": "flows", "kind": "integer", "component": "Flow table", "min": 1, "max": 16000, "step": 100, "scale": "log"},
        {"name": "verb", "kind": "choice", "component": "Traffic", "values": ["send", "write", "read"]},
        {"name": "teardown_order", "kind": "sequence", "component": "Virtual functions", "values": ["unbind", "free", "close"]},
        {"name": "jumbo", "kind": "boolean", "component": "Traffic"},
    ],
    "metrics": [{"name": "bw_gbps", "unit": "Gbit/s", "better": "higher"}],
    "symptoms": ["S6", "S7"],
    "topology": None,
    "sequential": False,
    "default": {"egress_masks": 1, "flows": 1, "verb": "read", "teardown_order": ["free", "unbind", "close"], "jumbo": False},
    "seconds_per_test": 0.5,
}
BRUTE_FORCE = 5 * 5 * 3 * 6 * 2

FAILING = {**DESCRIPTION["default"], "egress_masks": 24}


def cause(**fields: Any) -> dict[str, Any]:
    """Masks from 24 on decline bandwidth."""
    return {
        "id": 1,
        "symptom": "S6",
        "metric": None,
        "conditions": [{"parameter": "egress_masks", "op": ">=", "value": 24}],
        "confidence": 0.99,
        "components": ["Mask table"],
        "recognised": None,
        "thresholds": [{"parameter": "egress_masks", "last_good": 23, "first_bad": 24, "step": 1}],
        "permutation": [
            {"parameter": "egress_masks", "pairs": 8, "held": 8, "kept": True},
            {"parameter": "flows", "pairs": 5, "held": 0, "kept": False},
        ],
        "verification": {"inside": {"agree": 10, "of": 10}, "outside": {"agree": 10, "of": 10}},
        "sensitivity": [
            {
                "parameter": "egress_masks",
                "kind": "integer",
                "points": [
                    {"value": n, "bad": n >= 24, "metrics": {"bw_gbps": 98.0 - (40.0 if n >= 24 else 0)}} for n in (1, 16, 23, 24, 64)
                ],
            }
        ],
        "effect": {"bw_gbps": {"good": 98.1, "bad": 57.0, "change": -0.42}},
        "recovers": False,
        "failing": FAILING,
        "passing": {**FAILING, "egress_masks": 23},
        **fields,
    }


def new_cause(**fields: Any) -> dict[str, Any]:
    """Many flows with jumbo frames lose flows: the catalogue does not know of the frames."""
    own = {
        "symptom": "S1",
        "conditions": [{"parameter": "flows", "op": ">=", "value": 6000}, {"parameter": "jumbo", "op": "==", "value": True}],
        "thresholds": [{"parameter": "flows", "last_good": 5900, "first_bad": 6000, "step": 100}],
    }
    return cause(**{**own, **fields})


def report(**fields: Any) -> dict[str, Any]:
    """A finished campaign that found one cause."""
    return {
        "device": "simulated CX-6",
        "description": "A simulated ConnectX-6",
        "tests": 180,
        "resets": 4,
        "seconds": 92.5,
        "strategy": "adaptive",
        "seed": 1,
        "budget": 1000,
        "target": None,
        "complete": True,
        "stopped": None,
        "strength": 2,
        "varied": [each["name"] for each in DESCRIPTION["parameters"]],
        "fixed": [],
        "brute_force": {"levels": 5, "tests": str(BRUTE_FORCE)},
        "baseline": {
            "healthy": True,
            "tests": 5,
            "metrics": {"bw_gbps": {"median": 98.1, "scale": 0.4, "unit": "Gbit/s", "better": "higher"}},
        },
        "noise": {"flip_rate": 0.0, "repeats": 12, "sequential_decisions": False},
        "memory": None,
        "causes": [cause()],
        "models": [],
        "phases": {"baseline": 5, "discover": 120, "minimise": 20, "permute": 13, "verify": 20, "threshold": 2},
        "next": [],
        "notes": [],
        **fields,
    }
