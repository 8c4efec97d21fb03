"""The JSON of newer perftest tools, as `--out_json` writes it."""

import pytest

from wallwatch.domain.perftest.parse import parse


def of_bandwidth(size: int, average: float, rate: float, test: str = "RDMA_Write_BW_Test", more: str = "") -> str:
    return f"""{{
"test_info": {{
"test": "{test}",
"Dual_port": "OFF",
"Device": "mlx5_0",
"Number_of_qps": 4,
"Connection_type": "RC",
"Mtu": 4096
}},
"results": {{
"MsgSize": {size},
{more}"n_iterations": 5000,
"BW_peak": {average:.2f},
"BW_average": {average:.2f},
"MsgRate": {rate:.6f},
"BW_min": 0.00
}}
}}
"""


OF_LATENCY = """{
"test_info": {
"test": "Send_Latency_Test",
"Number_of_qps": 1
},
"results": {
"MsgSize": 2,
"n_iterations": 1000,
"t_min": 2.71,
"t_max": 4.15,
"t_typical": 2.74,
"t_avg": 2.75,

"t_stdev": 0.04,
"percentile_99": 2.91,
"percentile_99.9": 4.15
}
}
"""


def test_the_message_rate_determines_the_unit_of_a_bandwidth() -> None:
    rate = 92.0 * 1e3 / (65536 * 8)
    [gigabits] = parse(of_bandwidth(65536, 92.0, rate), "a.json").runs
    [mebibytes] = parse(of_bandwidth(65536, 92.0e9 / 8 / 2**20, rate), "a.json").runs
    assert gigabits.rows[0].average_gbps == 92.0
    assert mebibytes.rows[0].average_gbps == pytest.approx(92.0, rel=1e-4)


def test_a_bandwidth_that_fits_no_unit_is_left_out_and_named() -> None:
    out = parse(of_bandwidth(65536, 92.0, 3.0), "a.json")
    assert out.runs == []
    assert "does not show whether" in out.problems[0]


@pytest.mark.parametrize("value", ["0.00", "NaN", "Infinity", "null"])
def test_a_result_of_nothing_is_left_out_and_named_once(value: str) -> None:
    text = of_bandwidth(65536, 92.0, 0.175476).replace("92.00", value)
    out = parse(text, "a.json")
    assert out.runs == []
    assert "nothing was measured" in out.problems[0]


def test_objects_one_after_another_are_one_run_of_several_sizes() -> None:
    text = "".join(of_bandwidth(size, 80.0, 80.0e3 / (size * 8)) for size in (4096, 65536)) + OF_LATENCY
    bandwidth, latency = parse(text, "all.json").runs
    assert [row.message_bytes for row in bandwidth.rows] == [4096, 65536]
    assert (latency.verb, latency.quantity) == ("send", "latency")
    assert (latency.rows[0].average_us, latency.rows[0].typical_us, latency.rows[0].p99_us) == (2.75, 2.74, 2.91)


def test_a_line_that_the_tools_write_without_quotation_marks_changes_nothing() -> None:
    [run] = parse(of_bandwidth(65536, 92.0, 92.0e3 / (65536 * 8), more="sl: 3,\n"), "a.json").runs
    assert run.rows[0].average_gbps == 92.0


@pytest.mark.parametrize("cut", range(1, len(OF_LATENCY) - 1, 20))
def test_a_file_cut_off_anywhere_keeps_the_objects_before(cut: int) -> None:
    out = parse(OF_LATENCY + OF_LATENCY[:cut], "cut.json")
    assert len(out.runs[0].rows) == 1
    assert "truncated" in out.problems[0]


@pytest.mark.parametrize("text", ["{}", '{"test_info": 1}', '{"test_info": {"test": "Raw_Test"}, "results": {}}', "{"])
def test_json_without_results_is_named(text: str) -> None:
    out = parse(text, "other.json")
    assert (out.runs, bool(out.problems)) == ([], True)


def test_both_directions_at_once_are_known_as_such() -> None:
    rate = 150.0e3 / (65536 * 8)
    [run] = parse(of_bandwidth(65536, 150.0, rate, "RDMA_Write_Bidirectional_BW_Test"), "a.json").runs
    assert run.bidirectional
