"""The comparison with the ledger of performance, and the short benchmarks against the committed one."""

import pytest
from tests.bench.ledger.__main__ import main
from tests.bench.ledger.entries import Entry, is_loss, read, write
from tests.bench.ledger.paired import Paired, measure
from tests.bench.ledger.short import SHORT


def burn(times: int) -> int:
    return sum(i * i for i in range(20_000 * times))


def test_work_that_takes_three_times_as_long_as_its_reference_has_the_ratio_three() -> None:
    paired = measure(lambda: burn(3), lambda: burn(1), 1, 15)
    assert 2 < paired.ratio < 4.5


def test_a_loss_shows_in_three_of_four_rounds_and_one_disturbed_round_is_none() -> None:
    entry = Entry.of(Paired((2.0, 2.0, 2.0, 2.1), 2.0, 1.0), "the same, bare")
    assert not is_loss(entry, Paired((2.1, 9.0, 2.0, 2.2), 2.0, 1.0))
    assert is_loss(entry, Paired((2.4, 2.5, 1.9, 2.4), 2.0, 1.0))


def test_what_varies_more_is_allowed_more() -> None:
    steady, restless = Paired((2.0, 2.0, 2.0, 2.0), 2, 1), Paired((1.6, 1.8, 2.2, 2.4), 2, 1)
    assert Entry.of(steady, "").allowed < Entry.of(restless, "").allowed


def test_the_ledger_is_read_as_it_was_written(tmp_path_factory: pytest.TempPathFactory) -> None:
    file = tmp_path_factory.mktemp("ledger") / "ledger.json"
    entries = {"a": Entry(2.0, 0.15, 4.0, 2.0, "the same, bare")}
    write(entries, file)
    assert read(file) == entries


def test_every_benchmark_is_in_the_ledger_with_its_reference() -> None:
    assert {name: entry.reference for name, entry in read().items()} == {name: one.reference for name, one in SHORT.items()}


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", sorted(SHORT))
def test_nothing_has_become_slower_than_the_ledger_allows(
    name: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["ledger", name])
    assert main() == 0, capfd.readouterr()
