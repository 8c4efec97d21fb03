"""The senders of the second world."""

from itertools import pairwise

import numpy as np
from tests.raw_hosts.traffic import FOREVER, Pattern, Traffic, bursts, busy, checkpoints, keepalive


def sent(pattern: Pattern, flows: int, seconds: float, step: float = 0.5) -> list[np.ndarray]:
    traffic = Traffic(np.random.default_rng(1))
    traffic.add(pattern, flows, 0.0)
    return [traffic.advance(at, at + step).packets for at in np.arange(0, seconds, step)]


def test_a_busy_flow_sends_at_its_rate() -> None:
    assert np.allclose(sent(busy(200.0), 3, 10), 100)


def test_a_keep_alive_is_one_packet_a_period() -> None:
    total = np.sum(sent(keepalive(10.8), 50, 108), axis=0)
    assert total.min() >= 9
    assert total.max() <= 11


def test_bursts_rest_as_long_as_they_should_on_average() -> None:
    steps = np.array(sent(bursts(8.0, 15.0), 200, 600))
    assert abs((steps > 0).mean() - 8 / 23) < 0.05


def test_rests_of_checkpoints_have_one_length() -> None:
    steps = np.array(sent(checkpoints(20.0, 13.0, spread=0.0), 20, 200))[:, 0] > 0
    edges = np.flatnonzero(np.diff(steps.astype(int)))
    rests = [(b - a) / 2 for a, b in pairwise(edges) if not steps[a + 1]]
    assert rests
    assert all(12.0 <= rest <= 13.5 for rest in rests)


def test_the_first_packet_of_a_step_is_when_a_rest_ends() -> None:
    traffic = Traffic(np.random.default_rng(2))
    traffic.add(checkpoints(1.0, 5.0, spread=0.0), 100, 0.0)
    silent = ~traffic.on
    step = traffic.advance(0.0, 3.0)
    began = silent & (step.packets > 0)
    assert began.any()
    assert ((step.first_at[began] > 0) & (step.first_at[began] <= 3)).all()
    assert (step.first_at[silent & (step.packets == 0)] == FOREVER).all()


def test_a_flow_that_ended_sends_nothing() -> None:
    traffic = Traffic(np.random.default_rng(3))
    flows = traffic.add(bursts(5.0, 5.0), 10, 0.0)
    traffic.stop(flows[:4])
    total = np.sum([traffic.advance(float(at), at + 1.0).packets for at in range(60)], axis=0)
    assert (total[:4] == 0).all()
    assert (total[4:] > 0).all()
