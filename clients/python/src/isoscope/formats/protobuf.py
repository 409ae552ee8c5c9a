"""As much of protobuf's wire format as pprof's files need.

Writing   message(...) of field(...)s are bytes; what is 0 or empty is left out, as proto3 does.
Reading   fields(data) yields (number, value): an int, or bytes. BadFile for what is no message.
"""

from __future__ import annotations

import re
from typing import Iterable, Iterator, Union

from ..errors import BadFile

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_SIGN = 1 << 63
_NUMERAL = re.compile(rb"[\x80-\xff]*[\x00-\x7f]")


def varint(value: int) -> bytes:
    value &= (1 << 64) - 1  # a negative one takes ten bytes
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def number(field: int, value: int) -> bytes:
    return varint(field << 3 | _VARINT) + varint(value) if value else b""


def data(field: int, value: bytes) -> bytes:
    """A string or a message; an empty message says something, too."""
    return varint(field << 3 | _BYTES) + varint(len(value)) + value


def packed(field: int, values: Iterable[int]) -> bytes:
    joined = b"".join(map(varint, values))
    return data(field, joined) if joined else b""


def fields(message: bytes) -> Iterator[tuple[int, Union[int, bytes]]]:
    at = 0
    while at < len(message):
        tag, at = _varint(message, at)
        field, kind = tag >> 3, tag & 7
        if kind == _VARINT:
            value, at = _varint(message, at)
            yield field, value
            continue
        if kind == _BYTES:
            size, at = _varint(message, at)
        elif kind in (_FIXED64, _FIXED32):
            size = 8 if kind == _FIXED64 else 4
        else:
            raise BadFile(f"a protobuf field of the kind {kind}")
        if field == 0 or at + size > len(message):
            raise BadFile("a protobuf message ends in the middle of a field")
        yield field, message[at : at + size]
        at += size


def number_fields(message: bytes) -> dict[int, int]:
    """Its single numbers; 0 and what is missing are the same in proto3."""
    return {field: value for field, value in fields(message) if isinstance(value, int)}


def signed(value: int) -> int:
    """Of an int64."""
    return value - (_SIGN << 1) if value >= _SIGN else value


def numbers(value: Union[int, bytes]) -> list[int]:
    """A repeated number, packed or not."""
    if isinstance(value, int):
        return [value]
    found, at = [], 0
    while at < len(value):
        one, at = _varint(value, at)
        found.append(one)
    return found


def numerals(value: Union[int, bytes]) -> list[bytes]:
    """The same numbers, each as it is written: to tell which are equal, a whole list is taken apart
    in one go."""
    if isinstance(value, int):
        return [varint(value)]
    if value and value[-1] > 0x7F:
        raise BadFile("a protobuf message ends in the middle of a number")
    return _NUMERAL.findall(value)


def _varint(message: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if at >= len(message) or shift > 63:
            raise BadFile("a protobuf message ends in the middle of a number")
        byte = message[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
