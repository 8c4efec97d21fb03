"""Reading what perftest prints."""

import pytest

from wallwatch.domain.calibration.conditions import Masks, Queries, place_of, place_of_name, queries
from wallwatch.domain.perftest.parse import parse

LINE = "-" * 87
SETTINGS = f""" Dual-port       : OFF\t\tDevice         : mlx5_0
 Number of qps   : 8\t\tTransport type : IB
 Connection type : RC\t\tUsing SRQ      : OFF
 TX depth        : 128
 Mtu             : 4096[B]
{LINE}
 local address: LID 0000 QPN 0x01cf PSN 0xe6b982
{LINE}
"""
MEGABYTES = " #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]\n"
GIGABITS = " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n"
LATENCY = (
    " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]   99% percentile[usec]"
    "   99.9% percentile[usec] \n"
)
DURATION = " #bytes        #iterations       t_avg[usec]    tps average\n"


def output(title: str, table: str) -> str:
    return f"{LINE}\n                    {title}\n{SETTINGS}{table}{LINE}\n"


WRITE_BW = output("RDMA_Write BW Test", MEGABYTES + " 65536      20000            21109.32            21106.63\t\t   0.337706\n")


def test_a_megabyte_is_two_to_the_twentieth() -> None:
    run = parse(WRITE_BW, "a.log").runs[0]
    assert (run.verb, run.quantity, run.queue_pairs, run.mtu, run.connection) == ("write", "bandwidth", 8, 4096, "RC")
    assert run.rows[0].average_gbps == pytest.approx(21106.63 * 2**20 * 8 / 1e9)
    assert run.rows[0].average_gbps == pytest.approx(run.rows[0].rate_mpps * 65536 * 8 / 1e3, rel=1e-3)  # type: ignore[operator]


def test_gigabits_are_taken_as_they_are_printed() -> None:
    text = output("Send BW Test", GIGABITS + " 8388608    5000             185.03             184.95 \t\t   0.002756\n")
    assert parse(text, "a.log").runs[0].rows[0].average_gbps == 184.95


def test_latency_has_its_average_its_typical_value_and_its_tail() -> None:
    row = " 2       1000          2.71           4.15         2.74     \t       2.75        \t0.08   \t\t2.95    \t\t4.15   \n"
    run = parse(output("RDMA_Read Latency Test", LATENCY + row), "a.log").runs[0]
    assert (run.verb, run.quantity) == ("read", "latency")
    assert (run.rows[0].average_us, run.rows[0].typical_us, run.rows[0].p99_us) == (2.75, 2.74, 2.95)


def test_a_run_by_duration_has_an_average_only() -> None:
    run = parse(output("Send Latency Test", DURATION + " 2             1523491          2.94           340136.05\n"), "a.log").runs[0]
    assert (run.rows[0].average_us, run.rows[0].typical_us, run.rows[0].iterations) == (2.94, None, 1523491)


def test_a_bandwidth_by_duration_has_no_peak() -> None:
    text = output("Send BW Test", MEGABYTES + " 65536      1934700          0.00               21131.77\t\t   0.338108\n")
    assert parse(text, "a.log").runs[0].rows[0].peak_gbps is None


def test_several_tables_in_one_file_are_several_runs() -> None:
    text = WRITE_BW + output("Send Latency Test", DURATION + " 2             1523491          2.94           340136.05\n") + WRITE_BW
    assert [(r.verb, r.quantity) for r in parse(text, "a.log").runs] == [
        ("write", "bandwidth"),
        ("send", "latency"),
        ("write", "bandwidth"),
    ]


def test_line_ends_of_another_system_change_nothing() -> None:
    assert parse(WRITE_BW.replace("\n", "\r\n"), "a.log").runs == parse(WRITE_BW, "a.log").runs


def test_warnings_between_the_lines_change_nothing() -> None:
    noisy = WRITE_BW.replace(
        MEGABYTES, MEGABYTES + "Conflicting CPU frequency values detected: 1200.000000 != 2600.000000. CPU Freq is not max.\n"
    )
    assert parse(noisy, "a.log").runs == parse(WRITE_BW, "a.log").runs
    assert parse(noisy, "a.log").problems == []


def test_a_file_that_ends_in_the_middle_of_a_line_keeps_the_lines_before_and_says_so() -> None:
    table = MEGABYTES + " 2          4000             14.05              13.87  \t\t   7.270332\n 4          4000          28.2"
    found = parse(f"                    Send BW Test\n{SETTINGS}{table}", "cut.log")
    assert [row.message_bytes for row in found.runs[0].rows] == [2]
    assert found.problems == ["cut.log: a line of its tables skipped: truncated or damaged"]


def test_a_table_without_its_title_is_known_by_the_file_s_name() -> None:
    table = MEGABYTES + " 2          4000             14.05              13.87  \t\t   7.270332\n"
    assert parse(table, "cen_0_send_bw_pod.log").runs[0].verb == "send"
    nameless = parse(table, "x.log")
    assert nameless.runs == []
    assert "neither the table nor the file name" in nameless.problems[0]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "the file is empty"),
        ("hello\n", "no perftest table"),
        ("92.53\n", "no perftest table"),
        ("\x00\x01\x02", "no perftest table"),
        (MEGABYTES, "without results"),
    ],
)
def test_a_file_without_results_is_named(text: str, reason: str) -> None:
    found = parse(text, "send_bw.log")
    assert found.runs == []
    assert reason in found.problems[-1]


@pytest.mark.parametrize("value", ["nan", "inf", "-1.00", "0.00", "92K"])
def test_what_is_no_measurement_is_left_out_with_its_reason(value: str) -> None:
    found = parse(WRITE_BW.replace("21109.32", value).replace("21106.63", value), "a.log")
    assert found.runs == []
    assert len(found.problems) == 1


def test_decimal_commas_are_read_and_commas_of_thousands_are_not() -> None:
    [run] = parse(WRITE_BW.replace(".", ","), "a.log").runs
    assert run.rows[0].average_gbps == pytest.approx(21106.63 * 2**20 * 8 / 1e9)
    assert parse(WRITE_BW.replace("21106.63", "21,106"), "a.log").runs == []


def test_the_shares_of_both_directions_are_not_taken_for_more_of_their_sum() -> None:
    table = GIGABITS + " 65536      5000             {0}             {0}\t\t     {1}\n"
    both = output("Send Bidirectional BW Test", table.format("185.06", "0.352974"))
    for side in ("Local", "Remote"):
        both += f"\n {side} results: \n{LINE}\n{table.format('92.53', '0.176487')}{LINE}\n"
    [run] = parse(both, "a.log").runs
    assert [row.average_gbps for row in run.rows] == [185.06]


def test_latencies_in_cycles_are_not_taken_for_microseconds() -> None:
    listed = "#, cycles\n1, 8120\n2, 8133\n"
    text = output("Send Latency Test", LATENCY + listed + " 2  1000  8000.00  9000.00  8120.00  8125.10  3.10  8300.00  9000.00\n")
    assert (parse(text, "a.log").runs, len(parse(text, "a.log").problems)) == ([], 1)


@pytest.mark.parametrize(
    "before",
    ["2024-05-01T10:00:00.123456789Z stdout F ", "[2024-05-01 10:00:00] ", "May  1 10:00:00 host7 perftest[31]: ", "# ", "\x1b[0m"],
)
def test_what_log_collectors_put_before_a_line_changes_nothing(before: str) -> None:
    collected = "".join(before + line for line in WRITE_BW.splitlines(keepends=True))
    assert parse(collected, "a.log") == parse(WRITE_BW, "a.log")


def test_a_row_whose_bandwidth_and_message_rate_contradict_each_other_is_left_out() -> None:
    found = parse(WRITE_BW.replace("21106.63", "2110.66"), "a.log")
    assert found.runs == []
    assert "the message rate gives" in found.problems[0]


def test_an_unknown_unit_is_not_guessed() -> None:
    found = parse(WRITE_BW.replace("MB/sec", "furlong"), "a.log")
    assert found.runs == []
    assert "unit" in found.problems[0]


def test_both_directions_at_once_are_known_as_such() -> None:
    assert parse(WRITE_BW.replace("RDMA_Write BW Test", "RDMA_Write Bidirectional BW Test"), "a.log").runs[0].bidirectional


@pytest.mark.parametrize(
    "name", ["cen_20_cde_100_sen_80_sde_80_send_bw_pod.log", "sde80-sen80-cde100-cen20.txt", "CEN=20,CDE=100,SEN=80,SDE=80"]
)
def test_the_numbers_of_masks_are_in_the_name_in_any_order(name: str) -> None:
    assert place_of_name(name) == Masks(20, 100, 80, 80)


@pytest.mark.parametrize(
    "name", ["send_bw.log", "cen_20_cde_100_sen_80.log", "cen_1_cen_2_cde_0_sen_0_sde_0.log", "scen_1_cde_0_sen_0_sde_0"]
)
def test_a_name_without_all_four_numbers_says_nothing(name: str) -> None:
    assert place_of_name(name) is None


def test_the_name_may_contain_the_mean_lookups() -> None:
    place = place_of_name("ql_10_qr_2.5_send_bw.log")
    assert place == Queries(10.0, 2.5)
    assert place is not None
    assert queries(place, "latency", "send", True) == (10.0, 2.5)


def test_numbers_of_masks_are_checked() -> None:
    with pytest.raises(ValueError, match="missing: sde"):
        place_of({"cen": 0, "cde": 0, "sen": 0})
    with pytest.raises(ValueError, match="client encapsulation"):
        place_of({"cen": -1, "cde": 0, "sen": 0, "sde": 0})
    with pytest.raises(ValueError, match="missing: qr"):
        place_of({"ql": 1})
    with pytest.raises(ValueError, match="mean mask lookups"):
        place_of({"ql": float("nan"), "qr": 0})


def test_bandwidth_passes_the_masks_of_one_way_and_latency_those_of_both() -> None:
    masks = Masks(cen=20, cde=100, sen=80, sde=60)
    assert queries(masks, "bandwidth", "send", False) == (20, 60)
    assert queries(masks, "bandwidth", "read", False) == (80, 100)
    assert queries(masks, "bandwidth", "send", True) == (50, 80)
    assert queries(masks, "latency", "write", False) == (100, 160)


@pytest.mark.parametrize("cut", range(0, len(WRITE_BW), 7))
def test_a_file_cut_off_before_the_end_of_its_row_gives_a_problem_and_one_cut_off_after_it_the_whole_row(cut: int) -> None:
    found, whole = parse(WRITE_BW[:cut], "write_bw.log"), parse(WRITE_BW, "write_bw.log")
    if cut > WRITE_BW.index("0.337706\n") + len("0.337706"):
        assert (found.runs, found.problems) == (whole.runs, [])
    else:
        assert found.problems
        assert [row for run in found.runs for row in run.rows] == []


def test_a_last_number_that_was_cut_off_is_no_measurement() -> None:
    head = " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]"
    table = f"{head}\n 2 1000 21.55 23.38 22.02 22.02\n 4 1000 21.61 23.43 22.01 2"
    found = parse(f"Send Latency Test\n{table}", "a.log")
    assert [row.average_us for row in found.runs[0].rows] == [22.02]
    assert "truncated" in found.problems[0]


@pytest.mark.parametrize(
    ("head", "row"),
    [
        (
            " #bytes    #sl      #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]",
            " 65536   0   5000   21109.32   21106.63   0.337706",
        ),
        (
            " #bytes     #iterations    BW peak[MiB/sec]    BW average[MiB/sec]   MsgRate[Mpps]",
            " 65536   5000   21109.32   21106.63   0.337706",
        ),
        (
            " #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]    CPU_Util[%]",
            " 65536   5000   21109.32   21106.63   0.337706   12.50",
        ),
        (
            " #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]   BW Port1[MB/sec]   MsgRate Port1[Mpps]",
            " 65536   5000   21109.32   21106.63   0.337706   10553.3   0.168853",
        ),
    ],
)
def test_columns_are_found_by_their_heads(head: str, row: str) -> None:
    run = parse(f"Send BW Test\n{head}\n{row}\n", "a.log").runs[0]
    assert run.rows[0].average_gbps == pytest.approx(21106.63 * 2**20 * 8 / 1e9)


def test_single_latencies_before_the_table_are_no_damage() -> None:
    listed = "#, usec\n" + "".join(f"{i}, 2.7{i}\n" for i in range(1, 6))
    head = "#bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]\n"
    out = parse(f"Send Latency Test\n{head}{listed}{head}2 1000 2.71 4.15 2.74 2.75\n", "a.log")
    assert ([len(run.rows) for run in out.runs], out.problems) == ([1], [])


@pytest.mark.parametrize("title", ["RDMA_Write_imm BW Test", "RDMA_Write with imm BW Test", "RDMA_Write Post List BW Test"])
def test_titles_of_other_versions_are_known(title: str) -> None:
    [run] = parse(
        f"{title}\n #bytes #iterations BW peak[Gb/sec] BW average[Gb/sec] MsgRate[Mpps]\n 65536 5000 92.1 92.0 0.175476\n", "a.log"
    ).runs
    assert (run.verb, run.quantity) == ("write", "bandwidth")
