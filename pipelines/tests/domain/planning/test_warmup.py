"""Flows that are likely to come, from the past of a made-up host with a daily pattern."""

from wallwatch.domain.masks.fields import FIELDS
from wallwatch.domain.masks.space import HeaderSpace
from wallwatch.domain.planning.warmup import Observation, likely

HOUR_S = 3600.0
DAY_S = 24 * HOUR_S


def past(space: HeaderSpace) -> tuple[list[Observation], list[Observation], list[Observation]]:
    """Ten days: some flows at nine in the morning among low addresses, others at nine in the evening among high ones."""
    full = (1 << 32) - 1
    morning, evening = [], []
    for day in range(10):
        for number in range(6):
            for flows, base, hour in ((morning, 10 << 24, 9), (evening, 200 << 24, 21)):
                source, mask = space.put("ipv4.src", base + number, full, space.fields["ipv4.src"])
                target, other = space.put("ipv4.dst", base + 100 + number, full, space.fields["ipv4.dst"])
                flows.append(Observation(day * DAY_S + hour * HOUR_S + 60 * number, source | target, mask | other, 1000 + 10 * day))
    return [*morning, *evening], morning, evening


def prepared() -> HeaderSpace:
    space = HeaderSpace()
    for end in ("src", "dst"):
        space.place(f"ipv4.{end}", FIELDS[f"ipv4.{end}"])
    return space


def test_the_flows_of_the_morning_are_likely_in_the_morning() -> None:
    space = prepared()
    seen, morning, _ = past(space)
    found = likely(seen, [], space, 10 * DAY_S + 9 * HOUR_S)
    assert {value for value, _ in found} == {one.value for one in morning}


def test_what_is_there_already_is_not_named_again() -> None:
    space = prepared()
    seen, morning, _ = past(space)
    found = likely(seen, morning[:5], space, 10 * DAY_S + 9 * HOUR_S)
    assert {value for value, _ in found} == {morning[5].value}


def test_the_same_past_gives_the_same_flows_in_the_same_order() -> None:
    space = prepared()
    seen, _, _ = past(space)
    assert likely(seen, [], space, 9 * HOUR_S) == likely(seen, [], space, 9 * HOUR_S)


def test_a_short_past_predicts_nothing() -> None:
    space = prepared()
    seen, _, _ = past(space)
    assert likely(seen[:20], [], space, 9 * HOUR_S) == []


def test_a_past_of_less_than_a_day_says_which_flows_but_not_when() -> None:
    space = prepared()
    seen, morning, evening = past(space)
    day = [one for one in seen if one.at_s < 0.9 * DAY_S] * 6
    known = {one.value for one in [*morning, *evening]}
    found = likely(day, [], space, 0.95 * DAY_S)
    assert found
    assert {value for value, _ in found} <= known
    assert found == likely(day, [], space, 5 * HOUR_S)
