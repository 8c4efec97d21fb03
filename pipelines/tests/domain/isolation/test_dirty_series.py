"""Series as hosts really write them: wraps, restarts, gaps, clocks that step, rows twice, late, or wrong."""

from collections import Counter

import pytest
from pipelines.tests.domain.isolation.world import Incident, Vf, World

from wallwatch.domain.isolation.counters import COUNTERS
from wallwatch.domain.isolation.csv_rows import COLUMNS, BadSeries
from wallwatch.domain.isolation.csv_series import read_series
from wallwatch.domain.isolation.readings import Reading
from wallwatch.domain.isolation.series_judgement import Judgement, judge_series
from wallwatch.domain.isolation.slo import SloFile

STORMS = [Incident(20, 30, "storm", {"vf2": 40e6}), Incident(60, 66, "storm", {"vf4": 50e6})]
WORLD = World({f"vf{n}": Vf(5e9, 1e9, 400 + 100 * n, 1e9) for n in range(6)}, incidents=STORMS)
TRUTH = sorted(WORLD.truth(90))
Rows = list[list[str]]


def rows(readings: list[Reading]) -> Rows:
    """Rows of a CSV file without its header."""
    found = []
    for reading in readings:
        for name, counters in {"port": reading.port, **reading.vfs}.items():
            delays = [getattr(counters, f"delay_{part}_us", None) for part in ("p50", "p99")]
            values = [getattr(counters, counter) for counter in COUNTERS]
            found.append([f"{reading.t:.0f}", name, *map(str, values), *("" if delay is None else f"{delay:.1f}" for delay in delays)])
    return found


def judged(lines: Rows) -> Judgement:
    counts: Counter[str] = Counter()
    text = [",".join(COLUMNS), *(",".join(line) for line in lines)]
    judgement = judge_series(read_series(text, counts), SloFile(WORLD.nic_bps, WORLD.slos()), counts)
    for verdict in judgement.broken:
        for vf in verdict.vfs.values():
            for rate in (vf.rx_bps, vf.tx_bps, vf.rx_pps, vf.tx_pps, vf.dropped_per_s):
                assert rate is None or 0 <= rate < 2.5 * WORLD.nic_bps
    return judgement


def broken(judgement: Judgement) -> list[float]:
    return [verdict.t for verdict in judgement.broken]


def at(lines: Rows, t: int) -> Rows:
    return [line for line in lines if line[0] == str(t)]


@pytest.fixture
def clean() -> Rows:
    return rows(WORLD.readings(90))


def test_a_clean_series_is_judged_to_the_second(clean: Rows) -> None:
    judgement = judged(clean)
    assert (broken(judgement), judgement.unknown) == (TRUTH, [])


@pytest.mark.parametrize("bits", [32, 64])
def test_wrapping_counters_change_nothing(clean: Rows, bits: int) -> None:
    first = {line[1]: line[2:8] for line in at(clean, 1000)}
    for line in clean:  # every packet counter starts shortly before its end
        for place in (3, 6):
            line[place] = str((int(line[place]) - int(first[line[1]][place - 2]) + (1 << bits) - 20_000_000) % (1 << bits))
    judgement = judged(clean)
    assert (broken(judgement), judgement.unknown) == (TRUTH, [])
    assert judgement.counts["wraps"] >= 4


def test_the_second_of_a_restart_is_unknown_and_the_next_is_judged(clean: Rows) -> None:
    start = {line[1]: line[2:8] for line in at(clean, 1040)}
    for line in clean:
        if int(line[0]) > 1040:
            line[2:8] = [str(int(value) - int(old)) for value, old in zip(line[2:8], start[line[1]], strict=True)]
    judgement = judged(clean)
    assert (broken(judgement), judgement.unknown) == (TRUTH, [1041.0])


def test_a_vf_that_is_bound_again_is_unknown_alone(clean: Rows) -> None:
    start = at(clean, 1025)[3][2:8]
    for line in clean:
        if int(line[0]) > 1025 and line[1] == "vf2":
            line[2:8] = [str(int(value) - int(old)) for value, old in zip(line[2:8], start, strict=True)]
    judgement = judged(clean)
    assert judgement.unknown == []
    assert judgement.tally.vfs["vf2"].unknown_s == 1.0
    assert set(TRUTH) - set(broken(judgement)) <= {1026.0}


def test_the_seconds_of_a_gap_are_unknown(clean: Rows) -> None:
    judgement = judged([line for line in clean if not 1040 < int(line[0]) < 1048])
    assert judgement.unknown == [float(t) for t in range(1041, 1048)]
    assert broken(judgement) == TRUTH
    assert judgement.tally.vfs["vf0"].unknown_s == 7.0


def test_a_gap_with_a_storm_inside_is_unknown_to_its_end(clean: Rows) -> None:
    judgement = judged([line for line in clean if not 1015 < int(line[0]) < 1035])
    assert judgement.unknown == [float(t) for t in range(1016, 1036)]
    assert broken(judgement) == [t for t in TRUTH if t > 1035]


def test_duplicate_rows_are_counted_and_change_nothing(clean: Rows) -> None:
    judgement = judged([copy for line in clean for copy in (line, line)])
    assert (broken(judgement), judgement.counts["duplicate_rows"]) == (TRUTH, len(clean))


def test_late_rows_get_their_place(clean: Rows) -> None:
    late = at(clean, 1022) + at(clean, 1050)[2:4]
    kept = [line for line in clean if line not in late]
    for t, lines in ((1024, late[:7]), (1053, late[7:])):
        place = kept.index(at(kept, t)[-1]) + 1
        kept[place:place] = lines
    judgement = judged(kept)
    assert (broken(judgement), judgement.unknown) == (TRUTH, [])
    assert judgement.counts["late_rows"] > 0


def test_rows_that_come_much_too_late_are_counted_and_left_out(clean: Rows) -> None:
    late = at(clean, 1022)
    kept = [line for line in clean if line not in late]
    place = kept.index(at(kept, 1045)[-1]) + 1
    judgement = judged(kept[:place] + late[:2] + kept[place:])
    assert judgement.counts["lost_rows"] == 2
    assert 1022.0 in judgement.unknown
    assert set(broken(judgement)) == set(TRUTH) - {1022.0}


def test_a_clock_that_is_set_back_goes_on_from_there(clean: Rows) -> None:
    for line in clean:
        if int(line[0]) > 1050:
            line[0] = str(int(line[0]) - 7)
    judgement = judged(clean)
    assert judgement.counts["clock_steps"] == 1
    assert broken(judgement) == [t if t <= 1050 else t - 7 for t in TRUTH]


def test_one_reading_with_a_wrong_time_is_left_out(clean: Rows) -> None:
    for line in at(clean, 1050):
        line[0] = "1010"
    judgement = judged(clean)
    assert (broken(judgement), judgement.unknown) == (TRUTH, [1050.0])


@pytest.mark.parametrize("t", ["1", "5000", "99999999999"])
def test_one_row_with_a_wrong_time_is_counted_and_skipped(clean: Rows, t: str) -> None:
    at(clean, 1045)[3][0] = t
    judgement = judged(clean)
    assert (broken(judgement), judgement.unknown, judgement.counts["odd_times"]) == (TRUTH, [], 1)


@pytest.mark.parametrize(
    ("column", "value"), [(0, "x"), (0, "nan"), (1, "eth0"), (2, "-1"), (2, "1e999"), (3, str(1 << 64)), (4, "nan"), (7, "many")]
)
def test_a_malformed_row_is_counted_and_skipped(clean: Rows, column: int, value: str) -> None:
    at(clean, 1050)[2][column] = value
    judgement = judged(clean)
    assert (broken(judgement), judgement.counts["bad_rows"]) == (TRUTH, 1)


def test_a_delay_that_makes_no_sense_does_not_cost_the_counters(clean: Rows) -> None:
    at(clean, 1025)[2][9] = "-3"
    at(clean, 1026)[2][9] = "soon"
    at(clean, 1027)[2][9] = "nan"
    judgement = judged(clean)
    assert (broken(judgement), judgement.counts["bad_delays"], judgement.counts.get("bad_rows")) == (TRUTH, 2, None)


def test_ten_seconds_apart_intervals_are_estimated_and_judged(clean: Rows) -> None:
    judgement = judged([line for line in clean if int(line[0]) % 10 == 0])
    assert [(verdict.t, verdict.estimated, verdict.aggressors) for verdict in judgement.broken] == [
        (1020.0, True, ("vf2",)),
        (1030.0, True, ("vf2",)),
        (1060.0, True, ("vf4",)),
        (1070.0, True, ("vf4",)),
    ]
    assert judgement.unknown == []


def test_a_leap_of_months_is_refused(clean: Rows) -> None:
    for line in clean:
        if int(line[0]) > 1050:
            line[0] = str(int(line[0]) + 10**8)
    with pytest.raises(BadSeries, match="the time leaps by 1,157 days"):
        judged(clean)


def test_a_host_that_restarts_with_its_clock_set_back_is_followed_again(clean: Rows) -> None:
    start = {line[1]: line[2:8] for line in at(clean, 1050)}
    for line in clean:
        if int(line[0]) > 1050:
            line[0] = str(int(line[0]) - 500)
            line[2:8] = [str(int(value) - int(old)) for value, old in zip(line[2:8], start[line[1]], strict=True)]
    judgement = judged(clean)
    shifted = {t - 500 for t in TRUTH if t > 1050}
    found = {t for t in broken(judgement) if t < 1000}
    assert found <= shifted
    assert {564.0, 565.0, 566.0} <= found  # the first readings are taken as late ones
