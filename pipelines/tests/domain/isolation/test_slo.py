"""The file of promises."""

import json

import pytest

from wallwatch.domain.isolation.slo import BadSlo, read_slo_file


def text(nic_bps: object = 25e9, **slo: object) -> str:
    return json.dumps({"nic_bps": nic_bps, "slo": slo or {"vf0": {"min_bps": 1e9, "max_bps": 5e9}}})


def test_a_promise_is_read_with_what_it_leaves_open() -> None:
    promise = read_slo_file(text(vf0={"min_bps": 1e9, "max_bps": 5e9, "p99_us": 50})).slo["vf0"]
    assert (promise.min_bps, promise.max_bps, promise.p99_us) == (1e9, 5e9, 50.0)
    assert (promise.p50_us, promise.loss, promise.policed_bps) == (None, None, None)


def test_minima_that_exactly_fill_the_link_are_accepted() -> None:
    thirds = {f"vf{n}": {"min_bps": 25e9 / 3, "max_bps": 25e9} for n in range(3)}
    assert len(read_slo_file(text(**thirds)).slo) == 3


def test_minima_above_the_link_are_refused_with_their_sum() -> None:
    with pytest.raises(BadSlo, match=r"minima of 2 VFs add up to 26,000 Mbit/s, more than the link's 25,000 Mbit/s"):
        read_slo_file(text(vf0={"min_bps": 20e9, "max_bps": 25e9}, vf1={"min_bps": 6e9, "max_bps": 25e9}))


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("{", "not JSON"),
        ("[1]", "must be an object"),
        ("[" * 100_000, "nested too deeply|not JSON"),
        (text("25e9"), "nic_bps must be a number"),
        (text(0), "nic_bps must be the line rate"),
        (text(True), "nic_bps must be a number"),
        ('{"nic_bps": NaN, "slo": {"vf0": {"max_bps": 1}}}', "finite"),
        ('{"nic_bps": 1' + "0" * 400 + ', "slo": {"vf0": {"max_bps": 1}}}', "finite"),
        ('{"nic_bps": 1e9, "slo": {}}', "names no VF"),
        (text(eth0={"max_bps": 1e9}), "'eth0' is not the name of a VF"),
        (text(vf01={"max_bps": 1e9}), "'vf01' is not the name of a VF"),
        (text(vf0=[]), "vf0: the promise must be an object"),
        (text(vf0={"min_bps": 1e9}), "vf0: max_bps is required"),
        (text(vf0={"min_bps": 2e9, "max_bps": 1e9}), r"vf0: min_bps 2,000,000,000 is larger than max_bps"),
        (text(vf0={"max_bps": -1}), "vf0: max_bps must be a finite number of at least 0"),
        (text(vf0={"max_bps": 1e9, "loss": 2}), "loss is a fraction"),
    ],
)
def test_a_malformed_file_is_refused_with_the_reason(content: str, problem: str) -> None:
    with pytest.raises(BadSlo, match=problem):
        read_slo_file(content)


def test_keys_that_mean_nothing_are_reported() -> None:
    assert read_slo_file(text(vf0={"max_bps": 1e9, "p99": 50})).ignored == ("vf0.p99",)
