"""Prints the tests and the report of a search: run with several hash seeds by test_search.py, since sets of text differ in order then."""

import json

from wallwatch.domain.lab.device import Config, as_integer

from .planted import boolean, choice, device_of, integer, search, sequence


def main() -> None:
    parameters = [integer("masks", 1, 256), integer("vfs", 0, 16), boolean("offload"), choice("mode", "a", "b", "c", "d")]
    device = device_of(
        *parameters,
        sequence("order", "x", "y", "z"),
        metrics=[{"name": "bw_gbps"}, {"name": "latency_us", "better": "lower"}, {"name": "drops", "better": "lower"}],
    )

    def behaviour(config: Config) -> tuple[list[str], dict[str, float]]:
        crash = config["mode"] in ("b", "c") and config["offload"] is True
        slow = as_integer(config["masks"]) * as_integer(config["vfs"]) >= 1500
        symptoms = ["S3"] * crash + ["S6", "S7"] * slow
        return symptoms, {"bw_gbps": 9.0 if symptoms else 98.0, "latency_us": 90.0 if slow else 3.0, "drops": 4.0 if crash else 1.0}

    report, tester = search(device, behaviour)
    print(json.dumps([tester.sent, report.to_json()]))


main()
