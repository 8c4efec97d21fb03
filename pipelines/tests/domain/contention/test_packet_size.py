"""What the bytes of a packet cost: told apart from flows and contention, or not claimed."""

import numpy as np
import pytest
from pipelines.tests.domain.contention.contended_card import Array, Cache, counters, memory_rows

from wallwatch.domain.contention.function_model import FunctionModel, train
from wallwatch.domain.contention.packet_size import NO_EFFECT, learn

PER_BYTE = 4e-7  # 1/kpps: at 1518 B more than half of the time of the fastest packets


def sized(rows: Array, sizes: Array) -> Array:
    """Rows of 64 B as rows of other sizes."""
    found = rows.copy()
    found[:, 1], found[:, -1] = sizes, 1 / (1 / rows[:, -1] + PER_BYTE * (sizes - 64))
    return found


def profile_rows(seed: int) -> Array:
    """Sizes and flows grow together, as along the diagonal of an adaptive profile; some rows without competitors stand apart."""
    random = np.random.default_rng(seed)
    rows = memory_rows(50, seed)
    alone = memory_rows(6, seed + 100)
    alone[:, 2:9] = 0
    alone[:, 0] = [16_000, 16_000, 16_000, 1000, 30_000, 55_000]
    alone[:, 9] = [cached(flows, random) for flows in alone[:, 0]]
    sizes = 64 + 1454 * (rows[:, 0] - rows[:, 0].min()) / np.ptp(rows[:, 0])
    return np.vstack([sized(rows, sizes), sized(alone, np.array([64.0, 1518.0, 800.0, 1518.0, 1518.0, 1518.0]))])


def cached(flows: float, random: np.random.Generator) -> float:
    return Cache().throughput(flows, np.zeros(7)) * random.normal(1, 0.01)


@pytest.fixture(scope="module")
def model() -> FunctionModel:
    return train("probe", profile_rows(1))


def test_the_time_of_a_byte_is_found(model: FunctionModel) -> None:
    assert model.memory.size.per_byte == pytest.approx(PER_BYTE, rel=0.1)


def test_sizes_and_flows_that_never_came_together_are_predicted(model: FunctionModel) -> None:
    random, cache = np.random.default_rng(5), Cache()
    errors = []
    for _ in range(60):
        flows, size, present = random.uniform(2000, 50_000), random.uniform(64, 1518), counters(random)
        truth = 1 / (1 / cache.throughput(flows, present) + PER_BYTE * (size - 64))
        found = model.predict(np.array([[0.0, 0.0, flows, size, *present]]))
        errors.append(abs(found.throughput[0] / truth - 1))
    assert np.mean(errors) < 0.06


def test_the_effect_is_part_of_the_model_that_is_stored(model: FunctionModel) -> None:
    again = FunctionModel.from_json(model.as_json())
    assert again.memory.size == model.memory.size


def test_a_model_without_sizes_from_an_earlier_version_is_read(model: FunctionModel) -> None:
    body = model.memory.as_json()
    del body["size"]
    assert type(model.memory).from_json(body).size == NO_EFFECT


def test_packets_of_one_size_and_sizes_that_cost_nothing_have_no_effect() -> None:
    assert learn(memory_rows(50, 1)) == NO_EFFECT
    free = profile_rows(1)
    free[:, 9] = 1 / (1 / free[:, 9] - PER_BYTE * (free[:, 1] - 64))
    assert learn(free) == NO_EFFECT
