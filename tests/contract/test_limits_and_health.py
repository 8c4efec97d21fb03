"""Every process of Compose has limits, says whether it is well, and cannot fill a disk with its log."""

import re
from typing import Any

import pytest

UNITS = {"Mi": 2**20, "Gi": 2**30}
# They run once, and their exit code says how it went.
ENDING = {"kafka-certificates", "migrate"}
# The smallest machine that runs the server. Docker refuses a limit of more CPUs than there are.
CPUS = 2
# The observer of a host must leave it to its work.
CPUS_ON_A_HOST = {"telegraf": 1.0, "agent": 0.5}


def size(quantity: str) -> int:
    """Bytes of a quantity of Kubernetes.

    >>> size("256Mi")
    268435456
    """
    match = re.fullmatch(r"(\d+)([MG]i)", quantity)
    assert match is not None, quantity
    return int(match[1]) * UNITS[match[2]]


@pytest.fixture(scope="module")
def limits(compose: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {name: service["deploy"]["resources"]["limits"] for name, service in compose["services"].items()}


def test_memory_is_limited_as_in_the_chart(limits: dict[str, dict[str, Any]], manifests: list[dict[str, Any]]) -> None:
    pods = [one["spec"]["template"]["spec"] for one in manifests if "template" in one.get("spec", {})]
    in_chart = {one["name"]: size(one["resources"]["limits"]["memory"]) for pod in pods for one in pod["containers"]}
    assert {name: int(limit["memory"]) for name, limit in limits.items() if name in in_chart} == in_chart
    assert all(int(limit["memory"]) > 0 for limit in limits.values())


def test_no_process_can_take_more_cpus_than_the_smallest_machine_has(limits: dict[str, dict[str, Any]]) -> None:
    cpus = {name: float(limit["cpus"]) for name, limit in limits.items()}
    assert {name: value for name, value in cpus.items() if not 0 < value <= CPUS} == {}
    assert {name: cpus[name] for name in CPUS_ON_A_HOST} == CPUS_ON_A_HOST


def test_every_process_that_goes_on_is_asked_whether_it_is_well(compose: dict[str, Any]) -> None:
    assert {name for name, service in compose["services"].items() if not service.get("healthcheck")} == ENDING


def test_no_log_grows_without_end(compose: dict[str, Any]) -> None:
    logging = {name: service.get("logging") for name, service in compose["services"].items()}
    assert {name for name, one in logging.items() if one != {"driver": "local", "options": {"max-size": "10m", "max-file": "5"}}} == set()
