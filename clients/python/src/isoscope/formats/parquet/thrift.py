"""Thrift's compact protocol, as far as Parquet's descriptions of itself need it.

A struct is its fields in the order of their numbers. Values are made by i32, i64, boolean, text, struct and many;
a field that is None is left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, Optional

_I32, _I64, _BINARY, _LIST, _STRUCT = 5, 6, 8, 9, 12
_TRUE, _FALSE = 1, 2
_SHORT_LIST_MAX = 14


class Value(NamedTuple):
    type: int
    content: bytes


def varint(number: int) -> bytes:
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def _zigzag(number: int) -> bytes:
    return varint(2 * number if number >= 0 else -2 * number - 1)


def i32(number: int) -> Value:
    return Value(_I32, _zigzag(number))


def i64(number: int) -> Value:
    return Value(_I64, _zigzag(number))


def boolean(value: bool) -> Value:
    """As a field of a struct, whose type says it."""
    return Value(_TRUE if value else _FALSE, b"")


def text(content: str) -> Value:
    encoded = content.encode("utf-8", "replace")
    return Value(_BINARY, varint(len(encoded)) + encoded)


def struct(fields: Mapping[int, Optional[Value]]) -> Value:
    out = bytearray()
    before = 0
    for number, value in sorted(fields.items()):
        if value is None:
            continue
        step = number - before
        out += bytes([step << 4 | value.type]) if step < 16 else bytes([value.type]) + _zigzag(number)
        out += value.content
        before = number
    return Value(_STRUCT, bytes(out) + b"\0")


def many(values: list[Value]) -> Value:
    """One at least, all of one type."""
    count, kind = len(values), values[0].type
    head = bytes([count << 4 | kind]) if count <= _SHORT_LIST_MAX else bytes([0xF0 | kind]) + varint(count)
    return Value(_LIST, head + b"".join(value.content for value in values))
