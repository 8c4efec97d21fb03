"""Each window of each condition and of each evidence rule: the value just inside counts, the one just outside does not."""

from dataclasses import dataclass

import pytest

from wallwatch.domain.catalogue.load import causes
from wallwatch.domain.symptoms import features
from wallwatch.domain.symptoms.features import POPULATION_CHANGE, POPULATION_DROP, Features, is_event
from wallwatch.domain.symptoms.rnic_state import RnicState
from wallwatch.domain.symptoms.window import BUCKET_MS, COARSE_BUCKET_MS, COARSE_WINDOW_MS, WINDOW_MS
from wallwatch_testing.boundaries import conditions
from wallwatch_testing.stories import PCI, START_MS

NOW = (START_MS // COARSE_BUCKET_MS + 20) * COARSE_BUCKET_MS - 1
"""The last millisecond of a bucket of either kind."""


@dataclass(frozen=True)
class Asked:
    signal: str
    window_s: int
    statistic: str

    @property
    def bucket_ms(self) -> int:
        return BUCKET_MS if self.window_s * 1000 <= WINDOW_MS else COARSE_BUCKET_MS

    def __str__(self) -> str:
        return f"{self.signal} {self.statistic} of {self.window_s} s"


ASKED = sorted(
    {Asked(c.signal, c.window_s, c.statistic) for _, c in conditions("required", "gate", "supporting")}
    | {Asked(rule.signal, rule.window_s, rule.statistic) for cause in causes().values() for rule in cause.rules},
    key=str,
)
POPULATION = [a for a in ASKED if a.signal in (POPULATION_CHANGE, POPULATION_DROP)]
SAMPLED = [a for a in ASKED if not is_event(a.signal) and a not in POPULATION]
COUNTED = [a for a in ASKED if is_event(a.signal)]


def seen(asked: Asked, *samples: tuple[int, float], signal: str | None = None) -> float | None:
    """The value of a window that ends now, after these samples at `(ms before now, value)`."""
    rnic = RnicState()
    rnic.newest = NOW
    rnic.transport = {"form": features.transport_places()[1], "rows": []}
    for before_ms, value in samples:
        features.keep(rnic, NOW - before_ms, {signal or asked.signal: value})
    found = Features(rnic, {}, NOW, PCI).of(asked)
    return None if found is None else found.value


def test_now_is_the_end_of_a_bucket() -> None:
    assert (NOW + 1) % BUCKET_MS == (NOW + 1) % COARSE_BUCKET_MS == 0


@pytest.mark.parametrize("asked", SAMPLED + POPULATION, ids=str)
def test_a_window_of_samples_is_of_whole_buckets_and_no_longer_than_what_is_kept(asked: Asked) -> None:
    assert asked.window_s * 1000 % asked.bucket_ms == 0
    assert asked.window_s * 1000 <= COARSE_WINDOW_MS


@pytest.mark.parametrize("asked", SAMPLED, ids=str)
def test_the_oldest_sample_of_a_window_counts_and_one_before_it_does_not(asked: Asked) -> None:
    assert seen(asked, (asked.window_s * 1000 - 1, 7.0)) == 7.0
    assert seen(asked, (asked.window_s * 1000, 7.0)) is None


@pytest.mark.parametrize("asked", SAMPLED, ids=str)
def test_the_statistic_is_the_one_that_the_catalogue_names(asked: Asked) -> None:
    # Outside 100; inside 8 and 2 in the oldest bucket, 6 in the newest; in a window of one bucket all of them.
    oldest = asked.window_s * 1000 - 1
    samples = [(oldest + 1, 100.0), (oldest, 8.0), (oldest - 1, 2.0), (0, 6.0)]
    alone = asked.window_s * 1000 == asked.bucket_ms
    expected = {"mean": 16 / 3, "max": 8.0, "min": 2.0, "last": 16 / 3 if alone else 6.0, "median": 16 / 3 if alone else 5.0}
    assert seen(asked, *samples) == pytest.approx(expected[asked.statistic])


@pytest.mark.parametrize("asked", POPULATION, ids=str)
def test_the_oldest_number_of_flows_of_a_window_counts_and_one_before_it_does_not(asked: Asked) -> None:
    now = (0, 250.0)
    assert seen(asked, (asked.window_s * 1000 - 1, 1000.0), now, signal="flows_offloaded") == 0.75
    assert seen(asked, (asked.window_s * 1000, 1000.0), now, signal="flows_offloaded") is None
    grown = {POPULATION_CHANGE: 0.75, POPULATION_DROP: 0.0}[asked.signal]
    assert seen(asked, (asked.window_s * 1000 - 1, 250.0), (0, 1000.0), signal="flows_offloaded") == grown


@pytest.mark.parametrize("asked", COUNTED, ids=str)
def test_an_event_of_the_last_millisecond_of_a_window_is_counted_and_one_before_it_is_not(asked: Asked) -> None:
    def count(*before_ms: int) -> float | None:
        kept = [[(NOW - ms) * 1000, PCI, 1] for ms in before_ms]
        found = Features(None, {asked.signal: kept}, NOW, PCI).of(asked)
        return None if found is None else found.value

    oldest = asked.window_s * 1000 - 1
    assert count(oldest) == 1.0
    assert count(oldest + 1) == 0.0
    assert count(oldest + 1, oldest, 0) == 2.0
    assert count() == 0.0
