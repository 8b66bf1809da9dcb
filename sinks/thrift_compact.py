"""Thrift's compact protocol, as far as a parquet footer needs it: structs as lists of typed fields.

A struct is read into ``{field id: (type, value)}`` and written back byte for byte the same, so that fields which this
code does not know survive. For writing, a struct's bytes will do in its place. Source: the Thrift compact protocol
specification.
"""

from __future__ import annotations

from typing import Any

__all__ = [
    "BINARY",
    "I32",
    "I64",
    "LIST",
    "STRUCT",
    "Struct",
    "int_at",
    "int_bytes",
    "list_of",
    "read_struct",
    "skip",
    "write_struct",
]

TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = range(1, 13)

Struct = dict[int, tuple[int, Any]]
MAX_DEPTH = 32


def list_of(kind: int, items: list[Any]) -> tuple[int, tuple[int, list[Any]]]:
    """A list field of one element type."""
    return LIST, (kind, items)


def read_struct(data: bytes, at: int = 0, depth: int = 0, first: int = 0) -> tuple[Struct, int]:
    """Read a struct at ``at``; gives it and the place behind it.

    Args:
        first: the field that stands before ``at``, for a struct whose beginning was read already.

    Raises:
        ValueError: not of the protocol, or cut off.
    """
    if depth > MAX_DEPTH:
        raise ValueError("thrift: nested too deep")
    found: Struct = {}
    field = first
    try:
        while True:
            head = data[at]
            at += 1
            if head == 0:
                return found, at
            kind, delta = head & 0x0F, head >> 4
            if delta:
                field += delta
            else:
                field, at = _zigzag(data, at)
            if kind in (TRUE, FALSE):
                found[field] = (kind, kind == TRUE)
            else:
                value, at = _read(data, at, kind, depth)
                found[field] = (kind, value)
    except IndexError as error:
        raise ValueError("thrift: cut off") from error


def _read(data: bytes, at: int, kind: int, depth: int) -> tuple[Any, int]:
    if kind == BYTE:
        return data[at], at + 1
    if kind in (I16, I32, I64):
        return _zigzag(data, at)
    if kind == DOUBLE:
        return data[at : at + 8], at + 8
    if kind == BINARY:
        size, at = _varint(data, at)
        if at + size > len(data):
            raise ValueError("thrift: cut off")
        return data[at : at + size], at + size
    if kind in (LIST, SET):
        head = data[at]
        at += 1
        count, element = head >> 4, head & 0x0F
        if count == 15:
            count, at = _varint(data, at)
        if count > len(data):
            raise ValueError("thrift: a list longer than its data")
        items = []
        for _ in range(count):
            if element in (TRUE, FALSE):
                item, at = data[at] == TRUE, at + 1
            else:
                item, at = _read(data, at, element, depth + 1)
            items.append(item)
        return (element, items), at
    if kind == STRUCT:
        return read_struct(data, at, depth + 1)
    raise ValueError(f"thrift: type {kind} does not occur in a footer")


def skip(data: bytes, at: int, kind: int, depth: int = 0) -> int:
    """The place behind a value of ``kind`` at ``at``.

    Raises:
        ValueError: not of the protocol. IndexError: cut off.
    """
    if depth > MAX_DEPTH:
        raise ValueError("thrift: nested too deep")
    if kind == STRUCT:
        while (head := data[at]) != 0:
            at += 1
            if head < 0x10:
                at = _skip_varint(data, at)
            inner = head & 0x0F
            if inner not in (TRUE, FALSE):
                at = _skip_varint(data, at) if I16 <= inner <= I64 else skip(data, at, inner, depth + 1)
        return at + 1
    if kind in (I16, I32, I64):
        return _skip_varint(data, at)
    if kind == BINARY:
        size, at = _varint(data, at)
        return at + size
    if kind in (LIST, SET):
        count, element = data[at] >> 4, data[at] & 0x0F
        at += 1
        if count == 15:
            count, at = _varint(data, at)
        if element in (TRUE, FALSE):
            return at + count
        for _ in range(count):
            at = skip(data, at, element, depth + 1)
        return at
    if kind == BYTE:
        return at + 1
    if kind == DOUBLE:
        return at + 8
    raise ValueError(f"thrift: type {kind} does not occur in a footer")


def int_at(data: bytes, at: int) -> int:
    """The integer at ``at``."""
    return _zigzag(data, at)[0]


def int_bytes(value: int) -> bytes:
    """An integer's bytes."""
    out = bytearray()
    _put_zigzag(value, out)
    return bytes(out)


def _skip_varint(data: bytes, at: int) -> int:
    while data[at] > 0x7F:
        at += 1
    return at + 1


def write_struct(struct: Struct) -> bytes:
    """The bytes of a struct."""
    out = bytearray()
    _write_struct(struct, out)
    return bytes(out)


def _write_struct(struct: Struct, out: bytearray) -> None:
    last = 0
    for field in sorted(struct):
        kind, value = struct[field]
        if kind in (TRUE, FALSE):
            kind = TRUE if value else FALSE
        delta = field - last
        if 0 < delta <= 15:
            out.append(delta << 4 | kind)
        else:
            out.append(kind)
            _put_zigzag(field, out)
        last = field
        if kind not in (TRUE, FALSE):
            _write(kind, value, out)
    out.append(0)


def _write(kind: int, value: Any, out: bytearray) -> None:
    if kind == BYTE:
        out.append(value)
    elif kind in (I16, I32, I64):
        _put_zigzag(value, out)
    elif kind == DOUBLE:
        out += value
    elif kind == BINARY:
        _put_varint(len(value), out)
        out += value
    elif kind in (LIST, SET):
        element, items = value
        if len(items) < 15:
            out.append(len(items) << 4 | element)
        else:
            out.append(0xF0 | element)
            _put_varint(len(items), out)
        for item in items:
            if element in (TRUE, FALSE):
                out.append(TRUE if item else FALSE)
            else:
                _write(element, item, out)
    elif isinstance(value, bytes):
        out += value
    else:
        _write_struct(value, out)


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
        if shift > 63:
            raise ValueError("thrift: a number of over 64 bits")


def _zigzag(data: bytes, at: int) -> tuple[int, int]:
    value, at = _varint(data, at)
    return (value >> 1) ^ -(value & 1), at


def _put_varint(value: int, out: bytearray) -> None:
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)


def _put_zigzag(value: int, out: bytearray) -> None:
    _put_varint(value << 1 if value >= 0 else (-value << 1) - 1, out)
