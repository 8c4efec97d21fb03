"""Readings from the live measurement."""

import json
from sys import intern

import pytest

from wallwatch.domain.isolation.counters import Limits
from wallwatch.domain.isolation.readings import reading_of_message
from wallwatch.domain.isolation.vf_track import VfTrack

ROW = [3, "g7", 100, 2, 1, 200, 4, 0, 5.5, 17.0, 4096, 9, 1000, 100, 77]


def test_every_value_of_a_row_gets_its_place_and_unit() -> None:
    vf = reading_of_message(10.0, {"vfs": json.dumps([ROW])}).vfs["vf3"]
    assert (vf.rx_bytes, vf.rx_packets, vf.rx_dropped, vf.tx_bytes, vf.tx_packets, vf.tx_dropped) == (100, 2, 1, 200, 4, 0)
    assert (vf.generation, vf.delay_p50_us, vf.delay_p99_us, vf.tx_backlog_bytes, vf.policed_drops) == ("g7", 5.5, 17.0, 4096, 9)
    assert (vf.max_tx_bps, vf.min_tx_bps, vf.cpu_us) == (1e9, 1e8, 77)


def test_the_drops_of_the_port_are_discards_and_missing_buffers_together() -> None:
    assert reading_of_message(0.0, {"port_rx_discards": 5, "port_rx_out_of_buffer": 7}).port.rx_dropped == 12
    assert reading_of_message(0.0, {"port_rx_out_of_buffer": 7}).port.rx_dropped == 7
    assert reading_of_message(0.0, {}).port.rx_dropped is None


def test_missing_fields_and_short_rows_are_unknown_and_not_zero() -> None:
    reading = reading_of_message(0.0, {"vfs": [[0, None, 1, 2]]})
    assert reading.vfs["vf0"].rx_dropped is None
    assert reading.vfs["vf0"].generation == ""
    assert reading.extras is not None
    assert reading.extras.pcie_stalled_writes is None


def test_a_vf_keeps_one_text_of_its_generation_and_only_as_long_as_it_lasts() -> None:
    track = VfTrack("vf3")
    first, second = (reading_of_message(t, {"vfs": json.dumps([ROW])}).vfs["vf3"] for t in (10.0, 11.0))
    assert second.generation is not first.generation
    track.update(first, 10.0, Limits(None))
    track.update(second, 11.0, Limits(None))
    assert second.generation is first.generation
    assert intern("".join(["g", "7"])) is not first.generation, "up to Python 3.12.6 an interned text stays for ever"


@pytest.mark.parametrize("vfs", ["{", "{}", '[["a"]]', "[[]]", "[[true]]", "[7]"])
def test_malformed_vfs_are_an_error_with_words(vfs: str) -> None:
    with pytest.raises(ValueError, match="field vfs"):
        reading_of_message(0.0, {"vfs": vfs})
