"""Which promise a VF has, and which pod holds it."""

from sys import intern

import pytest

from wallwatch.domain.isolation.assignment import Book, Condition, Facts, Rule, assigned, slo_of
from wallwatch.domain.isolation.holders import Holders

GOLD, SILVER = slo_of(100, 1_000, None, 50.0, 0.0), slo_of(10, 500, None, None, None)
BOOK = Book(
    {"gold": GOLD, "silver": SILVER},
    (
        Rule((Condition("namespace", "=~", "team-.*"), Condition("model", "=", "CX-6")), "gold"),
        Rule((Condition("vf", "=", "7"),), "silver"),
    ),
)
FACTS = Facts("h1", "0000:3b:00.0", 7, "r1", "CX-6", "team-a/web")


def test_the_first_rule_that_matches_assigns_its_class() -> None:
    assert assigned(FACTS, BOOK) == ((GOLD, "gold", "rule", 0), "")
    assert assigned(FACTS._replace(pod="other/web"), BOOK) == ((SILVER, "silver", "rule", 1), "")
    assert assigned(FACTS._replace(pod="", vf=3), BOOK) == (None, "")


def test_the_cni_configuration_wins_by_name_or_with_its_own_values() -> None:
    assert assigned(FACTS._replace(cni_slo="silver"), BOOK) == ((SILVER, "silver", "cni", None), "")
    inline = '{"min_mbps": 5, "max_mbps": 50, "p99_us": 80}'
    assert assigned(FACTS._replace(cni_slo=inline), BOOK) == ((slo_of(5, 50, None, 80.0, None), None, "cni", None), "")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("bronze", "which does not exist"),
        ('{"max_mbps": }', "not JSON"),
        ('{"min_mbps": 5}', "without max_mbps"),
        ('{"min_mbps": 60, "max_mbps": 50}', "above its max_mbps"),
        ('{"max_mbps": -1}', "not a number of at least 0"),
        ('{"max_mbps": true}', "not a number of at least 0"),
        ('{"max_mbps": 5, "maxmbps": 5}', "unknown key 'maxmbps'"),
        ('{"max_mbps": 5, "loss": 1}', "share of packets"),
    ],
)
def test_an_slo_that_cannot_be_used_says_why_and_the_rules_apply(text: str, says: str) -> None:
    found, problem = assigned(FACTS._replace(cni_slo=text), BOOK)
    assert found is not None
    assert found.name == "gold"
    assert says in problem


def add(holders: Holders, at: int, device: str, pod: str, **fields: str) -> None:
    holders.hear(
        at, "h1", "0000:3b:00.0", "cni_add", {"device": device, "pod": pod, "container": f"c-{pod}", "interface": "net1", **fields}
    )


def test_an_add_gives_and_a_del_takes_whatever_the_order_of_arrival() -> None:
    holders = Holders()
    add(holders, 10, "0000:3b:00.2", "a/web", slo="gold")
    assert (holders.of_host("h1")["0000:3b:00.2"].pod, holders.of_host("h1")["0000:3b:00.2"].slo) == ("a/web", "gold")
    assert holders.changed == {"h1"}
    holders.hear(30, "h1", "0000:3b:00.0", "cni_del", {"device": "0000:3b:00.2"})
    add(holders, 20, "0000:3b:00.2", "b/late")  # arrived after the DEL that followed it
    assert holders.of_host("h1") == {}
    add(holders, 40, "0000:3b:00.2", "b/web")
    add(holders, 10, "0000:3b:00.2", "a/web")  # read again
    assert holders.of_host("h1")["0000:3b:00.2"].pod == "b/web"


def test_a_pods_name_is_gone_with_it() -> None:
    holders = Holders()
    add(holders, 10, "0000:3b:00.2", "".join(["a/", "web-7f"]), slo="gold")
    add(holders, 10, "0000:3b:00.3", "".join(["a/", "web-8f"]), slo="".join(["go", "ld"]))
    one, other = holders.of_host("h1").values()
    assert one.slo is other.slo
    assert intern("".join(["a/", "web-7f"])) is not one.pod, "up to Python 3.12.6 an interned text stays for ever"


def test_a_refused_add_gives_nothing() -> None:
    holders = Holders()
    add(holders, 10, "0000:3b:00.2", "a/web", result="refused")
    assert holders.of_host("h1") == {}


def test_a_del_without_a_device_takes_what_its_container_has_and_a_boot_takes_all() -> None:
    holders = Holders()
    add(holders, 10, "0000:3b:00.2", "a/web")
    add(holders, 10, "0000:3b:00.3", "b/web")
    holders.hear(20, "h1", "", "cni_del", {"container": "c-a/web", "interface": "net1"})
    assert set(holders.of_host("h1")) == {"0000:3b:00.3"}
    holders.hear(30, "h1", "", "host_booted", {})
    assert holders.of_host("h1") == {}
    add(holders, 25, "0000:3b:00.3", "c/web")  # from before the boot
    assert holders.of_host("h1") == {}


def test_what_was_released_long_ago_is_forgotten_and_who_holds_a_function_is_not() -> None:
    holders = Holders()
    add(holders, 10, "0000:3b:00.2", "a/web")
    add(holders, 10, "0000:3b:00.3", "a/db")
    holders.hear(20, "h1", "0000:3b:00.0", "cni_del", {"device": "0000:3b:00.2"})
    holders.hear(30, "h2", "", "host_booted", {})
    assert holders.forget(20) == []
    add(holders, 15, "0000:3b:00.2", "b/late")
    assert set(holders.of_host("h1")) == {"0000:3b:00.3"}
    assert holders.forget(21) == [("h1", "0000:3b:00.2")]
    assert holders.of_host("h1")["0000:3b:00.3"].pod == "a/db"
    assert set(holders._hosts) == {"h1", "h2"}, "h2's boot is not forgotten"
    assert holders.forget(31) == []
    assert set(holders._hosts) == {"h1"}
