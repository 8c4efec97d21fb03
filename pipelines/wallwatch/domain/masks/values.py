"""Values of header fields: from the notations of a dump to numbers and back."""

from __future__ import annotations

import socket

from wallwatch.domain.masks.fields import FRAGMENTS, Field


class Malformed(ValueError):
    """A text that is not a value of its field, or not a flow; the message describes the error."""


def parse(text: str, field: Field) -> tuple[int, int]:
    """`value/mask` or `value` as two numbers; bits outside the mask are cleared.

    Raises
    ------
    Malformed
        When the text is not a value of this field, or too wide.

    Examples
    --------
    >>> [hex(x) for x in parse("10.1.2.3/255.255.0.0", Field(32, "ipv4"))]
    ['0xa010000', '0xffff0000']
    >>> [hex(x) for x in parse("10.1.2.3/16", Field(32, "ipv4"))]
    ['0xa010000', '0xffff0000']
    >>> parse("+est-new", Field(8, "flags", ("new", "est")))
    (2, 3)
    """
    if field.notation == "flags" and not text[:1].isdigit():
        return _flags(text, field)
    body, slash, mask_text = text.partition("/")
    full = (1 << field.width) - 1
    value = _one(body, field)
    if not slash:
        return value, full
    mask = _mask(mask_text, field)
    if field.notation == "flags" and mask & full == full:
        mask = full  # all of 32 bits, of which the field has fewer
    if value & mask > full or mask > full:
        raise Malformed(f"{text!r} has bits beyond the field's {field.width}")
    return value & mask, mask


def show(value: int, mask: int, field: Field) -> str:
    """The text that `parse` reads as the same value and mask.

    >>> show(0x0A010000, 0xFFFF0000, Field(32, "ipv4")), show(80, 0xFFFF, Field(16))
    ('10.1.0.0/255.255.0.0', '80')
    """
    full = (1 << field.width) - 1
    if field.notation == "frag" and mask == full:
        return next((name for name, number in FRAGMENTS.items() if number == value), str(value))
    if field.notation == "flags":
        return _shown_flags(value, mask, field)
    if field.notation == "number" and not (mask != full or value > 0xFFFF):
        return str(value)
    shown = _shown(value, field)
    return shown if mask == full else f"{shown}/{_shown(mask, field)}"


def _one(text: str, field: Field) -> int:
    full = (1 << field.width) - 1
    try:
        if field.notation == "mac" and ":" in text:
            parts = text.split(":")
            if len(parts) != 6 or len(text) != 17:
                raise ValueError
            return int("".join(parts), 16)
        if field.notation == "ipv4" and "." in text:
            return int.from_bytes(socket.inet_pton(socket.AF_INET, text))
        if field.notation == "ipv6" and ":" in text:
            return int.from_bytes(socket.inet_pton(socket.AF_INET6, text))
        if field.notation == "frag" and text in FRAGMENTS:
            return FRAGMENTS[text]
        value = number(text)
    except (ValueError, OSError):
        raise Malformed(f"{text!r} is not a valid {field.notation if field.notation != 'frag' else 'kind of fragment'}") from None
    if value > full and not (field.notation == "flags" and value < 1 << 32):
        raise Malformed(f"{text!r} has more than {field.width} bits")
    return value


def _mask(text: str, field: Field) -> int:
    if field.notation in ("ipv4", "ipv6") and text.isdecimal():
        length = int(text)
        if length > field.width:
            raise Malformed(f"/{text} is longer than the {field.width} bits of an address")
        return ((1 << length) - 1) << (field.width - length)
    if field.notation == "flags":
        try:
            return number(text)
        except ValueError:
            raise Malformed(f"{text!r} is not a number") from None
    return _one(text, field)


def number(text: str) -> int:
    """A number as a dump writes it: decimal, or hexadecimal behind 0x.

    Raises
    ------
    ValueError
        With the text, if it is invalid.
    """
    if not text[:1].isdigit() or not text.isalnum():
        raise ValueError(repr(text))  # int() would take signs, spaces and underscores
    try:
        return int(text, 16) if text[:2] in ("0x", "0X") else int(text, 10)
    except ValueError:
        raise ValueError(repr(text)) from None


def _flags(text: str, field: Field) -> tuple[int, int]:
    """`+trk-new` has a mask of the flags that are named; `new|trk` is all flags."""
    full = (1 << field.width) - 1
    if text[:1] not in "+-" or not text:
        return sum(_flag(name, field) for name in {*text.split("|")} if name), full
    value = mask = 0
    for part in text.replace("+", " +").replace("-", " -").split():
        bit = _flag(part[1:], field)
        if mask & bit:
            raise Malformed(f"flag {part[1:]!r} appears twice")
        mask |= bit
        value |= bit if part[0] == "+" else 0
    return value, mask


def _flag(name: str, field: Field) -> int:
    if name not in field.flags:
        raise Malformed(f"{name!r} is not a flag (expected one of {', '.join(field.flags)})")
    return 1 << field.flags.index(name)


def _shown(value: int, field: Field) -> str:
    if field.notation == "mac":
        return value.to_bytes(6).hex(":")
    if field.notation == "ipv4":
        return socket.inet_ntop(socket.AF_INET, value.to_bytes(4))
    if field.notation == "ipv6":
        return socket.inet_ntop(socket.AF_INET6, value.to_bytes(16))
    return hex(value)


def _shown_flags(value: int, mask: int, field: Field) -> str:
    named = (1 << len(field.flags)) - 1
    if mask & ~named or (mask == (1 << field.width) - 1 and field.width > len(field.flags)):
        return f"{value:#x}/{mask:#x}"
    return "".join(("+" if value >> at & 1 else "-") + name for at, name in enumerate(field.flags) if mask >> at & 1)
