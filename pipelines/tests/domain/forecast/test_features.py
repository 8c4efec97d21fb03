"""Features of a target against a plain way to each of them, column by column."""

import math
from collections.abc import Callable
from itertools import pairwise
from statistics import mean, pstdev

import numpy as np
import pytest

from wallwatch.domain.forecast.features import NAMES, QUIET, RATE_MIN, FeatureMaker, changes
from wallwatch.domain.forecast.targets import HISTORY_MIN, HORIZONS_MIN, column, scales, targets
from wallwatch.domain.forecast.window import SEASONS_MIN, Window

NAN = math.nan
DRIVERS = ("offloaded_flows", "egress_masks", "ingress_masks", "flow_insertions")
MINUTE = 29_000_003
TARGET = column("egress_masks")


def window_of() -> Window:
    """Five RNICs of three hosts: one that steps up and down, one that grows, one with gaps, one that began lately, one unknown model."""
    rng = np.random.default_rng(3)
    values = rng.uniform(1.0, 90.0, (5, HISTORY_MIN, len(targets())))
    values[1, :, TARGET] = 5.0 + 0.25 * np.arange(HISTORY_MIN)
    values[1, -3:, TARGET] = values[1, -4, TARGET]
    values[2, 50:53, :] = NAN
    values[2, -1, :] = NAN
    values[3, :40, :] = NAN
    seasons = rng.uniform(1.0, 90.0, (5, len(SEASONS_MIN), 1 + len(HORIZONS_MIN), len(targets())))
    seasons[0, 2] = NAN
    containers = rng.integers(-3, 4, (5, HISTORY_MIN)).astype(np.float64)
    hosts = np.array([0, 0, 0, 1, 2])
    nothing = np.full(5, NAN)
    models = ["CX-6", "CX-7", "CX-6", "E810", None]
    return Window(models, hosts, MINUTE, values, seasons, containers, np.full((5, 2), NAN), np.zeros(5, dtype=np.bool_), nothing)


WINDOW = window_of()
SCALE = scales(WINDOW.models)


def series(rnic: int, target: int) -> list[float]:
    """Minutes in limits of the wall; gaps of up to five minutes keep the value before."""
    found: list[float] = []
    gap = 0
    for value in WINDOW.values[rnic, :, target] / SCALE[rnic, target]:
        gap = gap + 1 if math.isnan(value) else 0
        found.append(found[-1] if gap and found and gap <= 5 else float(value))
    return found


def known(values: list[float]) -> list[float]:
    return [value for value in values if not math.isnan(value)]


def naive(rnic: int, ahead: int) -> dict[str, float]:
    x = series(rnic, TARGET)
    middle = [mean(x[HISTORY_MIN - lag - 3 : HISTORY_MIN - lag]) for lag in (0, RATE_MIN // 2, RATE_MIN)]
    rate = (middle[0] - middle[2]) / RATE_MIN
    unit = abs(rate) + QUIET
    steps = known([b - a for a, b in pairwise(x)][-15:])
    grows = [b - a > 1e-6 for a, b in pairwise(x)][::-1]

    def run(of: bool) -> int:
        return next((at for at, flag in enumerate(grows) if flag is not of), len(grows))

    found: dict[str, float] = {
        "level": x[-1],
        "rate": rate,
        "slowing": (middle[0] - 2 * middle[1] + middle[2]) / RATE_MIN,
        "noise": pstdev(steps),
        "above_lowest": x[-1] - min(known(x)),
        "below_highest": max(known(x)) - x[-1],
        "growing_for_min": run(True),
        "since_growth_min": run(False),
        "day_sin": math.sin(2 * math.pi * (MINUTE % 1440) / 1440),
        "day_cos": math.cos(2 * math.pi * (MINUTE % 1440) / 1440),
        "weekday": (MINUTE // 1440 + 3) % 7,  # 1970 began on a Thursday: Monday is 0
        "age_min": len(known([float(v) for v in WINDOW.values[rnic, :, TARGET]])) if rnic == 3 else HISTORY_MIN,
        "horizon_min": ahead,
    }
    for lag in (1, 2, 3, 5, 15, 30, 60):
        found[f"rate_{lag}m"] = (x[-1] - x[-1 - lag]) / lag
    for name in DRIVERS:
        driver = series(rnic, column(name))
        found[f"{name}_rate_5m"], found[f"{name}_level"] = (driver[-1] - driver[-6]) / 5, driver[-1]
    for minutes in (1, 5, 15, 60):
        found[f"containers_{minutes}m"] = sum(WINDOW.containers[rnic, -minutes:])
    for lag in (5, 15):
        others = [series(other, TARGET) for other in range(5) if other != rnic and WINDOW.hosts[other] == WINDOW.hosts[rnic]]
        rates = known([(y[-1] - y[-1 - lag]) / lag for y in others])
        found[f"peers_rate_{lag}m"] = mean(rates) if rates else NAN
    for at, ago in enumerate(SEASONS_MIN):
        then = WINDOW.seasons[rnic, at, :, TARGET] / SCALE[rnic, TARGET]
        found[f"beside_{ago}m"] = x[-1] - then[0]
        found[f"season_{ago}m"] = ((then[1 + HORIZONS_MIN.index(ahead)] - x[-1]) / ahead - rate) / unit
    return found


@pytest.mark.parametrize("rnic", range(5))
def test_each_feature_is_what_its_name_says(rnic: int) -> None:
    maker = FeatureMaker(WINDOW)
    made = maker.of(TARGET)
    rows = made.rows.reshape(5, len(HORIZONS_MIN), len(NAMES))[rnic]
    for row, ahead in zip(rows, HORIZONS_MIN, strict=True):
        expected = naive(rnic, ahead)
        assert sorted(expected) == sorted(NAMES)
        for name, value in zip(NAMES, row, strict=True):
            assert value == pytest.approx(expected[name], rel=1e-4, abs=1e-5, nan_ok=True), (name, ahead)
    plain, scale = naive(rnic, 1), SCALE[rnic, TARGET]
    assert made.now[rnic] == maker.newest(TARGET)[rnic] == pytest.approx(plain["level"] * scale)
    assert made.rate[rnic] == pytest.approx(plain["rate"] * scale)
    assert made.unit[rnic] == pytest.approx((abs(plain["rate"]) + QUIET) * scale)
    assert maker.noise(TARGET)[rnic] == pytest.approx(plain["noise"] * scale)
    assert maker.shares("egress_masks")[rnic] == pytest.approx(series(rnic, TARGET), nan_ok=True)
    assert maker.series("egress_masks")[rnic] == pytest.approx([value * scale for value in series(rnic, TARGET)], nan_ok=True)


def test_a_label_is_a_change_of_the_present_growth_over_the_horizon() -> None:
    """No change of the growth, an end of it, and twice of it, for an RNIC that grows by 2 per minute."""
    rate, unit = np.array([2.0]), np.array([2.0])
    for label, per_minute in ((0.0, 2.0), (-1.0, 0.0), (1.0, 4.0)):
        labels = np.full((1, len(HORIZONS_MIN)), label)
        assert changes(labels, rate, unit).tolist() == [[per_minute * ahead for ahead in HORIZONS_MIN]]
    quantiles = np.zeros((1, len(HORIZONS_MIN), 3))
    assert changes(quantiles, rate, unit)[0, -1].tolist() == [120.0, 120.0, 120.0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"values": WINDOW.values[:, 1:]}, "values has shape"),
        ({"containers": WINDOW.containers[:4]}, "containers has shape"),
        ({"hosts": WINDOW.hosts[:4]}, "hosts has shape"),
        ({"sent_gbps": np.zeros(4)}, "sent_gbps has shape"),
    ],
)
def test_a_window_of_another_shape_is_refused(change: dict[str, object], message: str, make_window: Callable[..., Window]) -> None:
    with pytest.raises(ValueError, match=message):
        make_window(**change)


@pytest.fixture
def make_window() -> Callable[..., Window]:
    def make(**change: object) -> Window:
        parts: dict[str, object] = {name: getattr(WINDOW, name) for name in Window.__slots__}
        return Window(**(parts | change))  # type: ignore[arg-type]  # shapes are what is tested

    return make
