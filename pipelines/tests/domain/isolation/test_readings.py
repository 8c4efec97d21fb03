"""Readings from the live measurement."""

import json

import pytest

from wallwatch.domain.isolation.readings import reading_of_message

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


@pytest.mark.parametrize("vfs", ["{", "{}", '[["a"]]', "[[]]", "[[true]]", "[7]"])
def test_malformed_vfs_are_an_error_with_words(vfs: str) -> None:
    with pytest.raises(ValueError, match="field vfs"):
        reading_of_message(0.0, {"vfs": vfs})
