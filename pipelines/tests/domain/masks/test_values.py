"""Values of header fields and the grammar of a match, edge by edge."""

import re

import pytest

from wallwatch.domain.masks.fields import Field, known
from wallwatch.domain.masks.grammar import MAX_DEPTH, MatchParser, split
from wallwatch.domain.masks.space import HeaderSpace
from wallwatch.domain.masks.values import Malformed, number, parse, show

NUMBER, HEX, MAC, IPV4, IPV6 = Field(16), Field(16, "hex"), Field(48, "mac"), Field(32, "ipv4"), Field(128, "ipv6")
FRAG, FLAGS, FULL_FLAGS = Field(8, "frag"), Field(8, "flags", ("new", "est", "rel")), Field(3, "flags", ("new", "est", "rel"))
ALL = (1 << 128) - 1


@pytest.mark.parametrize(
    ("text", "field", "value", "mask"),
    [
        ("80", NUMBER, 80, 0xFFFF),
        ("0x50", NUMBER, 80, 0xFFFF),
        ("0X50", NUMBER, 80, 0xFFFF),
        ("65535", NUMBER, 0xFFFF, 0xFFFF),
        ("80/0xfff0", NUMBER, 80, 0xFFF0),
        ("81/0xfff0", NUMBER, 80, 0xFFF0),
        ("0/0", NUMBER, 0, 0),
        ("0x800", HEX, 0x800, 0xFFFF),
        ("02:00:00:00:00:0a", MAC, 0x02000000000A, (1 << 48) - 1),
        ("01:00:00:00:00:00/01:00:00:00:00:00", MAC, 1 << 40, 1 << 40),
        ("10.1.2.3", IPV4, 0x0A010203, 0xFFFFFFFF),
        ("10.1.2.3/0", IPV4, 0, 0),
        ("10.1.2.3/1", IPV4, 0, 1 << 31),
        ("10.1.2.3/32", IPV4, 0x0A010203, 0xFFFFFFFF),
        ("2001:db8::1", IPV6, 0x20010DB8 << 96 | 1, ALL),
        ("2001:db8::1/32", IPV6, 0x20010DB8 << 96, ALL ^ ((1 << 96) - 1)),
        ("::/128", IPV6, 0, ALL),
        ("first", FRAG, 1, 0xFF),
        ("later", FRAG, 2, 0xFF),
        ("0/0xff", FRAG, 0, 0xFF),
        ("+new-est", FLAGS, 1, 3),
        ("-new", FLAGS, 0, 1),
        ("+rel", FLAGS, 4, 4),
        ("new|rel", FLAGS, 5, 0xFF),
        ("0x1/0x3", FLAGS, 1, 3),
        ("0x1/0xffffffff", FLAGS, 1, 0xFF),  # Open vSwitch writes 32 bits of a field that has fewer
        ("0", FLAGS, 0, 0xFF),
    ],
)
def test_a_text_is_a_value_and_a_mask(text: str, field: Field, value: int, mask: int) -> None:
    assert parse(text, field) == (value, mask)


@pytest.mark.parametrize(
    ("text", "field", "reason"),
    [
        ("65536", NUMBER, "more than 16 bits"),
        ("80/0x10000", NUMBER, "more than 16 bits"),
        ("80/x", NUMBER, "not a valid number"),
        ("x", NUMBER, "not a valid number"),
        ("", NUMBER, "not a valid number"),
        ("-1", NUMBER, "not a valid number"),
        ("1_0", NUMBER, "not a valid number"),
        ("02:00:00:00:00", MAC, "not a valid mac"),
        ("02:00:00:00:00:0a:01", MAC, "not a valid mac"),
        ("2:0:0:0:0:a", MAC, "not a valid mac"),
        ("02:00:00:00:00:0g", MAC, "not a valid mac"),
        ("10.1.2", IPV4, "not a valid ipv4"),
        ("10.1.2.3/33", IPV4, "/33 is longer than the 32 bits"),
        ("2001:db8::1/129", IPV6, "/129 is longer than the 128 bits"),
        ("2001:db8:::1", IPV6, "not a valid ipv6"),
        ("middle", FRAG, "not a valid kind of fragment"),
        ("+old", FLAGS, "'old' is not a flag (expected one of new, est, rel)"),
        ("+new-new", FLAGS, "flag 'new' appears twice"),
        ("new|old", FLAGS, "'old' is not a flag"),
        ("0x1/x", FLAGS, "'x' is not a number"),
        ("0x101/0x101", FLAGS, "bits beyond the field's 8"),
        ("0x100000000", FLAGS, "more than 8 bits"),
    ],
)
def test_a_text_that_is_no_value_says_why(text: str, field: Field, reason: str) -> None:
    with pytest.raises(Malformed, match=re.escape(reason)):
        parse(text, field)


@pytest.mark.parametrize(
    ("value", "mask", "field", "text"),
    [
        (80, 0xFFFF, NUMBER, "80"),
        (80, 0xFFF0, NUMBER, "0x50/0xfff0"),
        (0xFFFF, 0xFFFFFFFF, Field(32), "65535"),
        (0x10000, 0xFFFFFFFF, Field(32), "0x10000"),
        (80, 0xFFFF, HEX, "0x50"),
        (0x0A, (1 << 48) - 1, MAC, "00:00:00:00:00:0a"),
        (0x0A010000, 0xFFFF0000, IPV4, "10.1.0.0/255.255.0.0"),
        (1, ALL, IPV6, "::1"),
        (1, 0xFF, FRAG, "first"),
        (3, 0xFF, FRAG, "3"),
        (1, 3, FRAG, "0x1/0x3"),
        (1, 3, FLAGS, "+new-est"),
        (4, 4, FLAGS, "+rel"),
        (5, 0xFF, FLAGS, "0x5/0xff"),  # bits without a name
        (5, 7, FULL_FLAGS, "+new-est+rel"),
        (8, 8, FLAGS, "0x8/0x8"),
    ],
)
def test_a_value_is_written_so_that_it_reads_back(value: int, mask: int, field: Field, text: str) -> None:
    assert show(value, mask, field) == text
    if text != "3":
        assert parse(text, field) == (value, mask)


@pytest.mark.parametrize(("text", "value"), [("0", 0), ("0x0", 0), ("0xFf", 255), ("0XfF", 255), ("10", 10), ("010", 10)])
def test_a_number_is_decimal_or_hexadecimal(text: str, value: int) -> None:
    assert number(text) == value


@pytest.mark.parametrize("text", ["", " 1", "+1", "1_0", "0x", "ff", "0xg", "1.0"])
def test_what_python_would_take_for_a_number_is_none_of_a_dump(text: str) -> None:
    with pytest.raises(ValueError, match=re.escape(repr(text))):
        number(text)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", []),
        ("a", ["a"]),
        ("a=1,b=2, c=3", ["a=1", "b=2", "c=3"]),
        ("a(1),b(2)", ["a(1)", "b(2)"]),
        ("a(b(c=1,d=2),e=3),f", ["a(b(c=1,d=2),e=3)", "f"]),
        ("a({x,y},z),b", ["a({x,y},z)", "b"]),
        ('in_port("a,b"),c(1)', ['in_port("a,b")', "c(1)"]),
        ('in_port("a)("),c(1)', ['in_port("a)(")', "c(1)"]),
        ("a(b(1)),  c(2)", ["a(b(1))", "c(2)"]),
    ],
)
def test_a_list_is_split_at_its_own_commas(text: str, parts: list[str]) -> None:
    assert split(text) == parts


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a(1),", "a comma next to nothing"),
        (",a(1)", "a comma next to nothing"),
        ("a,,b", "a comma next to nothing"),
        ("a(b(1),,c)x(", "unclosed"),
        ("a(1", "an unclosed bracket or quote in 'a(1'"),
        ("a(b{1)}", "an unmatched closing bracket"),
        ("a)", "an unmatched closing bracket, before ')'"),
        ('a("b)', "an unclosed bracket or quote"),
    ],
)
def test_brackets_and_quotes_must_close(text: str, reason: str) -> None:
    with pytest.raises(Malformed, match=re.escape(reason)):
        split(text)


def header(match: str) -> dict[str, str]:
    space = HeaderSpace()
    return space.header(*MatchParser(space).parse(match))


@pytest.mark.parametrize(
    ("match", "expected"),
    [
        ("in_port(p1)", {"in_port": "p1"}),
        ('in_port("a,b")', {"in_port": "a,b"}),
        ("in_port(p1/0)", {}),
        ("in_port(1/0x0)", {}),
        ("in_port(1/0xff)", {"in_port(1/0xff)": "met"}),
        ("eth_type(0x0800/0)", {}),
        ("tunnel(tun_id=0x1/0)", {"tunnel": "any"}),
        ("tunnel(src=10.0.0.1)", {"tunnel": "over IPv4", "tunnel.src": "10.0.0.1"}),
        ("tunnel(dst=10.0.0.1)", {"tunnel": "over IPv4", "tunnel.dst": "10.0.0.1"}),
        ("tunnel(ipv6_src=::1)", {"tunnel": "over IPv6", "tunnel.ipv6_src": "::1"}),
        ("tunnel(ipv6_dst=::1)", {"tunnel": "over IPv6", "tunnel.ipv6_dst": "::1"}),
        ("something(7)", {"something(7)": "met"}),
        ("something(7/0)", {}),
        ("something(7/0x1)", {"something(7/0x1)": "met"}),
        ("ipv4(speed=7)", {"ipv4.speed: speed=7": "met"}),
        ("ipv4(speed=7/0)", {}),
    ],
)
def test_parts_of_a_match_and_what_is_known_of_them(match: str, expected: dict[str, str]) -> None:
    assert header(match) == expected


@pytest.mark.parametrize(
    ("match", "reason"),
    [
        ("in_port()", "the port has no name"),
        ('in_port("")', "the port has no name"),
        ("eth_type(0x0800),eth_type(0x0806)", "'eth_type' appears twice"),
        ("in_port(1),eth_type(0x0800),in_port(2)", "appears twice"),
        ("eth_type(0x0800),in_port(1),eth_type(0x0800)", "'eth_type' appears twice"),
        ("ipv4(src=1.2.3.4,src=1.2.3.4)", "'ipv4.src' appears twice"),
        ("ipv4(src=1.2.3)", "ipv4.src: '1.2.3' is not a valid ipv4"),
        ("eth_type", "'eth_type' is not a field"),
        ("eth_type(0x0800)x", "is not a field"),
        ("tunnel(geneve({class=0x1,type=0x2,len=125,0x1}))", "an option of 125 bytes"),
        ("tunnel(geneve({class=zz,type=0x2,len=4,0x1}))", "is not a number"),
    ],
)
def test_a_match_that_cannot_be_read_says_where(match: str, reason: str) -> None:
    with pytest.raises(Malformed, match=reason):
        header(match)


@pytest.mark.parametrize(("depth", "valid"), [(MAX_DEPTH, True), (MAX_DEPTH + 1, False)])
def test_a_match_nests_eight_deep_at_most(depth: int, valid: bool) -> None:
    match = "encap(" * depth + "eth_type(0x0800)" + ")" * depth
    if valid:
        assert header(match)
    else:
        with pytest.raises(Malformed, match="nests too deep"):
            header(match)


@pytest.mark.parametrize(
    ("option", "length", "data"),
    [
        ("{class=0x102,type=0x80,len=4,0xa/0x7fffffff}", 4, "0xa/0x7fffffff"),
        ("{class=0x102,type=0x80,len=4,0xa}", 4, "10"),
        ("{class=0x102/0xffff,type=0x80/0xff,len=4,0xa}", 4, "10"),
        ("{class=0x102,type=0x80,len=124,0xa}", 124, "10"),
        ("{class=0x102,type=0x80,len=0}", 0, None),
    ],
)
def test_an_option_of_a_geneve_header_is_there_and_has_its_data(option: str, length: int, data: str | None) -> None:
    found = header(f"tunnel(geneve({option}))")
    path = f"tunnel.geneve[0x102,0x80,{length}]"
    assert found[f"{path}.present"] == "there"
    assert found.get(path) == data
    assert known(path) is None


def test_options_that_are_not_looked_at_are_left_out_and_others_are_kept() -> None:
    two = "{class=0x102/0,type=0x80/0,len=4/0,0xa/0}{class=0x103,type=0x81,len=0}"
    assert set(header(f"tunnel(geneve({two}))")) == {"tunnel", "tunnel.geneve[0x103,0x81,0].present"}
    assert "met" in header("tunnel(geneve({odd}))").values()
