"""Messages of one shape to rows in PostgreSQL's binary COPY format, without Python objects in between: loops compiled by numba.

`scan` accepts a message only if it consists of exactly the texts of its shape with plain values between them: whole numbers of up to 18
digits, decimal numbers, texts of ASCII; escapes only where the text is stored as JSON. Everything else, valid or not, is left to the
reference path. Numbers that cannot be read exactly in a few steps are returned by `scan` for Python to read.
"""

# Compiled from the types of what they are called with; coverage does not see into them.
# mypy: disable-error-code="no-untyped-def, no-untyped-call, untyped-decorator, misc"
from __future__ import annotations

import numpy as np
from numba import njit

# What the loops are compiled with stands in this file: numba compiles again when it changes, and looks at no other.
INT, FLOAT, EXACT_FLOAT, TEXT, OTHER_TEXT, UNKNOWN_NUMBER, ANY = range(7)
"""Kinds of values. The JSON of `EXACT_FLOAT` and `OTHER_TEXT` is stored as it is (`other`), so it must be what the reference path would
write; nothing is stored of `UNKNOWN_NUMBER`, of `ANY` number or text, nor of unknown fields with a text."""

BLOCK = 16
"""Bytes that are compared at once."""

_MOST_DIGITS = 18
_MOST_EXACT_DIGITS = 15
"""A decimal number of up to 15 digits divided by a power of ten up to 10^15 is rounded once, so correctly (Clinger, PLDI 1990)."""

_ESCAPED = np.frombuffer(b'"\\\\nrtbf', dtype=np.uint8)
_TIME = np.frombuffer(b',"timestamp":', dtype=np.uint8)
_NULL = np.frombuffer(b"null", dtype=np.uint8)
_POWERS = np.array([float(10**k) for k in range(_MOST_EXACT_DIGITS + 1)])
_QUOTE, _BACKSLASH, _COMMA, _POINT, _ZERO, _NINE, _END, _OPEN, _CLOSE = (np.uint8(c) for c in b'"\\,.09}[]')
_MINUS, _PLUS, _SMALL_E, _LARGE_E, _SPACE, _NOT_ASCII, _LINE_FEED = (np.uint8(c) for c in (*b"-+eE ", 0x80, 10))


def _compiled(function):
    """Compile, and keep the result where a folder can be written; elsewhere each process compiles for itself."""
    try:
        return njit(nogil=True, cache=True)(function)
    except RuntimeError:
        return njit(nogil=True)(function)


@_compiled
def _differs(text, at, blocks, masks, first, last):  # pragma: no cover
    """Whether the text at this place differs from the literal in these blocks, in the bytes that the masks let through."""
    differ = np.uint8(0)
    for block in range(first, last):
        for k in range(BLOCK):  # as many bytes as the processor compares at once
            differ |= (text[at + k] ^ blocks[block, k]) & masks[block, k]
        at += BLOCK
    return differ != 0


@_compiled
def _number(text, at, kind, end):  # pragma: no cover
    """Read the number at `at`, with a comma or `end` behind it: (its end, as a whole number, as a float, whether Python has to read it).

    It ends at -1 if it is not a plain number of this kind.
    """
    first = at
    whole = np.int64(0)
    while _ZERO <= text[at] <= _NINE:
        whole = whole * 10 + np.int64(text[at] - _ZERO)
        at += 1
    digits = at - first
    if digits > _MOST_DIGITS:
        return -1, whole, 0.0, False
    plain = digits > 0 and (digits == 1 or text[first] != _ZERO)
    if plain and (text[at] == _COMMA or text[at] == end):
        return at, whole, float(whole), False
    if kind == INT:
        return -1, whole, 0.0, False
    if plain and kind != EXACT_FLOAT and text[at] == _POINT:
        at += 1
        point = at
        while _ZERO <= text[at] <= _NINE and at - first <= _MOST_EXACT_DIGITS:
            whole = whole * 10 + np.int64(text[at] - _ZERO)
            at += 1
        if at > point and (text[at] == _COMMA or text[at] == end):
            return at, whole, float(whole) / _POWERS[at - point], False
    at = first
    while (
        _ZERO <= text[at] <= _NINE
        or text[at] == _POINT
        or text[at] == _MINUS
        or text[at] == _PLUS
        or text[at] == _SMALL_E
        or text[at] == _LARGE_E
    ):
        at += 1
    return (at if at > first else -1), whole, 0.0, True


@_compiled
def _text_end(text, at, stop, escapes):  # pragma: no cover
    """Where the quoted text that begins at `at` ends; -1 if it is not plain ASCII, apart from escapes that have one form only."""
    if at >= stop or text[at] != _QUOTE:
        return -1
    at += 1
    while at < stop and text[at] != _QUOTE:
        if text[at] == _BACKSLASH and escapes and at + 1 < stop:
            at += 1
            known = False
            for k in range(_ESCAPED.size):
                known |= text[at] == _ESCAPED[k]
            if not known:
                return -1
        elif text[at] == _BACKSLASH or text[at] < _SPACE or text[at] >= _NOT_ASCII:
            return -1
        at += 1
    return at + 1 if at < stop else -1


@_compiled
def _is_time(text, at):  # pragma: no cover
    differ = np.uint8(0)
    for k in range(_TIME.size):
        differ |= text[at + k] ^ _TIME[k]
    return differ == 0


@_compiled
def _time_at(text, begin, stop):  # pragma: no cover
    """Read the time at a message's end: (where its part of the text begins, ns); -1 if it is not there or has another form."""
    at = stop - 1
    if at > begin and text[at] == _LINE_FEED:  # Telegraf ends each message with one
        at -= 1
    if at < begin or text[at] != _END:
        return -1, np.int64(0)
    first = at
    while first > begin and _ZERO <= text[first - 1] <= _NINE:
        first -= 1
    digits = at - first
    start = first - _TIME.size
    if digits < 1 or digits > _MOST_DIGITS + 1 or text[first] == _ZERO or start < begin or not _is_time(text, start):
        return -1, np.int64(0)
    ns = np.uint64(0)
    for k in range(first, at):
        ns = ns * np.uint64(10) + np.uint64(text[k] - _ZERO)
    if ns > np.uint64(2**63 - 1):
        return -1, np.int64(0)
    return start, np.int64(ns)


@_compiled
def scan(  # pragma: no cover
    text,
    begins,
    stops,
    literal_ends,
    blocks,
    masks,
    block_ends,
    kinds,
    values,
    floats,
    value_ends,
    times,
    origin_begins,
    origin_ends,
    left,
    unread,
):
    """Read all messages of one shape.

    Parameters
    ----------
    text : uint8 array
        All messages one after another, with `BLOCK` further bytes at the end that are no digits.
    begins, stops : int64 arrays (messages,)
        Where each begins and ends in the text.
    literal_ends, blocks, masks, block_ends, kinds
        As in `Shape`.
    values, floats : int64 and float64 arrays (messages, fields), two views of one memory
        Receives the numbers.
    value_ends : int64 array (messages, fields)
        Receives where each value ends in the text.
    times, origin_begins, origin_ends : int64 arrays (messages,)
        Receives each message's time (ns) and where its name and tags stand.
    left : bool array (messages,)
        Receives whether a message was not read.
    unread : int64 array (messages * fields,)
        Receives message * fields + field of the numbers that Python has to read.

    Returns
    -------
    int
        How many of `unread` are filled.
    """
    fields = kinds.size
    waiting = 0
    for m in range(begins.size):
        left[m] = True
        time_at, ns = _time_at(text, begins[m], stops[m])
        if time_at < 0:
            continue
        at = begins[m]
        literal = block = np.int64(0)
        waiting_before = waiting
        f = 0
        while f < fields:
            length = literal_ends[f] - literal
            if at + length >= time_at or _differs(text, at, blocks, masks, block, block_ends[f]):
                break
            at += length
            literal = literal_ends[f]
            block = block_ends[f]
            kind = kinds[f]
            if kind in (TEXT, OTHER_TEXT):
                at = _text_end(text, at, time_at, kind == OTHER_TEXT)
            else:
                at, whole, number, by_python = _number(text, at, kind, _END)
                if by_python:
                    unread[waiting] = m * fields + f
                    waiting += 1
                elif kind == INT:
                    values[m, f] = whole
                else:
                    floats[m, f] = number
            if at < 0:
                break
            value_ends[m, f] = at
            f += 1
        if f < fields or at + 2 >= time_at or text[at] != _END or text[at + 1] != _COMMA:
            waiting = waiting_before
            continue
        left[m] = False
        times[m] = ns
        origin_begins[m] = at + 2
        origin_ends[m] = time_at
    return waiting


@_compiled
def _tags_end(text, at, stop):  # pragma: no cover
    """Where the list of texts and nulls that begins at `at` ends; -1 if it is no such list."""
    if at >= stop or text[at] != _OPEN:
        return -1
    at += 1
    if text[at] == _CLOSE:
        return at + 1
    while at < stop:
        if text[at] == _QUOTE:
            at = _text_end(text, at, stop, True)
        else:
            differ = np.uint8(0)
            for k in range(_NULL.size):
                differ |= text[at + k] ^ _NULL[k]
            at = at + _NULL.size if differ == 0 else -1
        if at < 0 or at >= stop:
            return -1
        if text[at] == _CLOSE:
            return at + 1
        if text[at] != _COMMA:
            return -1
        at += 1
    return -1


@_compiled
def _row_time(text, at):  # pragma: no cover
    """Read the time with which a row begins: (where it ends, ns); -1 if it is not a plain one."""
    first = at
    ns = np.uint64(0)
    while _ZERO <= text[at] <= _NINE and at - first <= _MOST_DIGITS:
        ns = ns * np.uint64(10) + np.uint64(text[at] - _ZERO)
        at += 1
    if at == first or text[first] == _ZERO or text[at] != _COMMA or ns > np.uint64(2**63 - 1):
        return -1, np.int64(0)
    return at, np.int64(ns)


@_compiled
def _row_values(text, at, stop, kinds, values, floats, value_ends, first_number, unread, waiting):  # pragma: no cover
    """Read the values of a row, whose bracket is at `at`: (where the bracket behind them is, how many of `unread` are filled).

    It is at -1 if they are not plain values of these kinds.
    """
    fields = kinds.size
    for f in range(fields):
        at += 1  # the bracket or comma before the value
        kind = kinds[f]
        if kind in (TEXT, OTHER_TEXT) or (kind == ANY and text[at] == _QUOTE):
            at = _text_end(text, at, stop, kind != TEXT)
        else:
            at, whole, number, by_python = _number(text, at, kind, _CLOSE)
            if by_python:
                unread[waiting] = first_number + f
                waiting += 1
            elif kind == INT:
                values[f] = whole
            else:
                floats[f] = number
        if at < 0 or at >= stop or text[at] != (_COMMA if f < fields - 1 else _CLOSE):
            return -1, waiting
        value_ends[f] = at
    return at, waiting


@_compiled
def scan_blocks(  # pragma: no cover
    text, begins, stops, kinds, values, floats, value_ends, times, tag_begins, tag_ends, value_begins, row_ends, row_counts, unread
):  # fmt: skip
    """Read blocks whose rows have the same fields, each as a whole or not at all.

    Parameters
    ----------
    text : uint8 array
        As of `scan`.
    begins, stops : int64 arrays (blocks,)
        Where the first row of each begins and where each block ends.
    kinds : int64 array
        Of the fields, as in `Shape`.
    values, floats, value_ends, unread
        As of `scan`, with rows in the place of messages.
    times, tag_begins, tag_ends, value_begins, row_ends : int64 arrays (rows,)
        Receives each row's time, where its tags, and where its values with their brackets stand.
    row_counts : int64 array (blocks,)
        Receives how many rows each has; 0 if the block was not read.

    Returns
    -------
    int
        How many of `unread` are filled.
    """
    fields, capacity = kinds.size, times.size
    waiting = row = 0
    for b in range(begins.size):
        at, stop = begins[b], stops[b]
        if stop > at and text[stop - 1] == _LINE_FEED:
            stop -= 1
        first_row, waiting_before = row, waiting
        row_counts[b] = 0
        while at < stop and row < capacity and text[at] == _OPEN:
            at, times[row] = _row_time(text, at + 1)
            if at < 0:
                break
            tag_begins[row] = at + 1
            at = _tags_end(text, at + 1, stop)
            if at < 0 or text[at] != _COMMA or text[at + 1] != _OPEN:
                break
            tag_ends[row] = at
            at += 1
            value_begins[row] = at
            at, waiting = _row_values(text, at, stop, kinds, values[row], floats[row], value_ends[row], row * fields, unread, waiting)
            if at < 0 or text[at + 1] != _CLOSE:
                break
            row_ends[row] = at + 1
            row += 1
            at += 2
            if text[at] == _COMMA:
                at += 1
            elif text[at] == _CLOSE and at + 2 == stop and text[at + 1] == _END:
                row_counts[b] = row - first_row
                break
            else:
                break
        if row_counts[b] == 0:
            row, waiting = first_row, waiting_before
    return waiting


@_compiled
def _copied(source, begin, end, rows, at):  # pragma: no cover
    for k in range(end - begin):
        rows[at + k] = source[begin + k]
    return at + end - begin


@_compiled
def _cell_length(length, rows, at):  # pragma: no cover
    for k in range(4):
        rows[at + k] = np.uint8((length >> (24 - 8 * k)) & 255)
    return at + 4


@_compiled
def _number_cell(value, rows, at):  # pragma: no cover
    at = _cell_length(8, rows, at)
    for k in range(8):
        rows[at + k] = np.uint8((value >> (56 - 8 * k)) & 255)
    return at + 8


@_compiled
def write_rows(  # pragma: no cover
    text, picked, begins, values, value_ends, literal_ends, field_names, name_ends, kinds, times_us, identities, column_count,
    number_fields, text_fields, other_fields, has_other, cells, number_cell_ends, text_cell_ends, rows,
):  # fmt: skip
    """Write the COPY rows of the messages in `picked`; returns how many bytes of `rows` they take.

    Parameters
    ----------
    times_us, identities : int64 arrays (picked,)
        Time since PostgreSQL's zero and number of the RNIC or host.
    cells : uint8 array
        Cells that come from the tags, all one after another: of each message first the numbers, then the texts.
    number_cell_ends, text_cell_ends : int64 arrays (picked,)
        Where they end in `cells`.
    """
    at = 0
    cell = np.int64(0)
    for i in range(picked.size):
        m = picked[i]
        rows[at] = np.uint8(column_count >> 8)
        rows[at + 1] = np.uint8(column_count & 255)
        at = _number_cell(times_us[i], rows, at + 2)
        at = _cell_length(4, rows, at)
        at = _cell_length(identities[i], rows, at)
        at = _copied(cells, cell, number_cell_ends[i], rows, at)
        for j in range(number_fields.size):
            f = number_fields[j]
            at = _cell_length(-1, rows, at) if f < 0 else _number_cell(values[m, f], rows, at)
        at = _copied(cells, number_cell_ends[i], text_cell_ends[i], rows, at)
        cell = text_cell_ends[i]
        for j in range(text_fields.size):
            f = text_fields[j]
            if f < 0:
                at = _cell_length(-1, rows, at)
            else:
                begin = _value_begin(f, m, begins, value_ends, literal_ends)
                at = _cell_length(value_ends[m, f] - begin - 2, rows, at)
                at = _copied(text, begin + 1, value_ends[m, f] - 1, rows, at)
        if has_other:
            length_at = at
            at += 6  # length, version of jsonb's binary form, brace
            for j in range(other_fields.size):
                f = other_fields[j]
                begin = _value_begin(f, m, begins, value_ends, literal_ends)
                if values[m, f] == 0 if kinds[f] != OTHER_TEXT else value_ends[m, f] - begin == 2:
                    continue
                at = _copied(field_names, name_ends[f - 1] if f else 0, name_ends[f], rows, at)
                at = _copied(text, begin, value_ends[m, f], rows, at)
                rows[at] = _COMMA
                at += 1
            if at == length_at + 6:
                at = _cell_length(-1, rows, length_at)
            else:
                rows[at - 1] = _END
                _cell_length(at - length_at - 4, rows, length_at)
                rows[length_at + 4] = np.uint8(1)
                rows[length_at + 5] = np.uint8(123)
    return at


@_compiled
def _value_begin(f, m, begins, value_ends, literal_ends):  # pragma: no cover
    if f == 0:
        return begins[m] + literal_ends[0]
    return value_ends[m, f - 1] + literal_ends[f] - literal_ends[f - 1]
