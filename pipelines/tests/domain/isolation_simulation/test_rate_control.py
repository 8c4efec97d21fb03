"""PCCP and PCCB: literal traces, and convergence."""

import pytest

from wallwatch.domain.isolation.simulation.pccb import Pccb, Senders, simulate_pccb
from wallwatch.domain.isolation.simulation.pccp import Pccp, PccpParameters, rates


def algorithm_1(delays: list[float], rate: float, p: PccpParameters, delta: float) -> list[float]:
    """The paper's listing, line by line."""
    delay, target, counter, out = delays[0], rate, 0, []
    for delay_in in delays:
        delay = delay + p.ewma * (delay_in - delay)
        if delay > p.threshold_us:
            rate = (1 - p.beta * (1 - p.threshold_us / delay)) * rate
            counter = 0
            target = rate
        else:
            if p.n_ai < counter <= p.n_hai:
                target = target + delta
            if counter > p.n_hai:
                target = target + (counter - p.n_hai) * delta
            rate = (rate + target) / 2
            counter = counter + 1
        out.append(rate)
    return out


@pytest.mark.parametrize("ewma", [0.125, 0.5, 1.0])
def test_pccp_is_algorithm_1_in_all_its_phases(ewma: float) -> None:
    delays = [30.0, 14.0, 9.0] + [5.0] * 25 + [80.0, 12.0] + [3.0] * 14
    parameters = PccpParameters(threshold_us=10, beta=0.8, n_ai=5, n_hai=10, ewma=ewma)
    assert rates(delays, 1e6, parameters) == pytest.approx(algorithm_1(delays, 1e6, parameters, 1e4), rel=1e-12)


def test_the_increment_can_be_given_as_a_rate() -> None:
    delays = [1.0] * 20
    parameters = PccpParameters(delta=7.0)
    assert rates(delays, 100.0, parameters) == pytest.approx(algorithm_1(delays, 100.0, parameters, 7.0), rel=1e-12)


def test_the_text_recovers_the_rate_before_the_decrease() -> None:
    literal, text = (Pccp(100.0, PccpParameters(ewma=1.0, beta=0.5, recover_old_rate=old)) for old in (False, True))
    assert [literal.step(delay) for delay in (20.0, 5.0, 5.0)] == [75.0, 75.0, 75.0]
    assert [text.step(delay) for delay in (20.0, 5.0, 5.0)] == [75.0, 87.5, 93.75]


def test_pccb_moves_the_limit_against_the_excess_within_bounds() -> None:
    controller = Pccb(12.0, 20.0, alpha=0.5)
    assert controller.step(18.0, 12.0) == 9.0
    assert controller.step(6.0, 12.0) == 11.25
    assert controller.step(1200.0, 12.0) == pytest.approx(1.125)  # the formula alone would be negative
    for _ in range(20):
        controller.step(0.0, 12.0)
    assert controller.limit == 20.0


@pytest.mark.parametrize("senders", [2, 10, 100])
def test_pccb_converges_within_5_ms_whatever_the_number_of_senders(senders: int) -> None:
    joined = simulate_pccb([Senders(1, 12.0), Senders(senders - 1, 12.0, from_us=20_480)], 12.0, 20.0, 40_000)
    settled = joined.settled_us(20_480, 12.0)
    assert settled is not None
    assert 0 < settled <= 5000
    assert joined.limit[-1] == pytest.approx(12.0 / senders, rel=0.01)


def test_pccb_divides_by_weights() -> None:
    groups = [Senders(1, 12.0, weight=1.0), Senders(1, 12.0, weight=3.0)]
    run = simulate_pccb(groups, 12.0, 20.0, 20_000)
    assert [group.rate(0, run.limit[-1]) for group in groups] == pytest.approx([3.0, 9.0], rel=0.01)


def test_pccb_oscillates_when_feedback_takes_longer_than_an_epoch() -> None:
    groups = [Senders(1, 12.0), Senders(1, 12.0, from_us=20_480)]
    slow, usual = (
        simulate_pccb(groups, 12.0, 20.0, 60_000, epoch_us=epoch, delay_us=192).settled_us(20_480, 12.0) for epoch in (128.0, 512.0)
    )
    assert usual is not None
    assert slow is None or slow > 3 * usual
