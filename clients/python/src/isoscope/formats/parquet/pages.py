"""Pages of a Parquet column: values, numbers of values in a dictionary, and where lists begin."""

from __future__ import annotations

import gzip
import struct as packing
from collections.abc import Iterable, Sequence
from typing import Union

from .thrift import Value, i32, struct, varint

PLAIN, RLE, RLE_DICTIONARY = 0, 3, 8
_DATA_PAGE, _DICTIONARY_PAGE = 0, 2

Cell = Union[int, float, bool, str]


class Page:
    """Its bytes in the file, and its size before it was packed; headers count in both."""

    def __init__(self, kind: int, field: int, header: dict[int, Value], content: bytes) -> None:
        packed = gzip.compress(content, 6, mtime=0)  # no time: equal profiles are equal files
        head = struct({1: i32(kind), 2: i32(len(content)), 3: i32(len(packed)), field: struct(header)}).content
        self.content = head + packed
        self.unpacked = len(head) + len(content)


def dictionary_page(values: Sequence[str]) -> Page:
    header = {1: i32(len(values)), 2: i32(PLAIN)}
    return Page(_DICTIONARY_PAGE, 7, header, b"".join(map(_plain_text, values)))


def data_page(count: int, encoding: int, content: bytes) -> Page:
    """count: cells, those of lists each."""
    return Page(_DATA_PAGE, 5, {1: i32(count), 2: i32(encoding), 3: i32(RLE), 4: i32(RLE)}, content)


def plain(code: str, cells: Sequence[Cell]) -> bytes:
    """code: of the struct module; "?": bits, the first one lowest."""
    if code == "?":
        return _packed([int(cell) for cell in cells], 1)
    return packing.pack(f"<{len(cells)}{code}", *cells)


def _plain_text(content: str) -> bytes:
    encoded = content.encode("utf-8", "replace")
    return packing.pack("<I", len(encoded)) + encoded


def numbers(cells: Sequence[int], count: int) -> bytes:
    """Cells as numbers below count, of a dictionary's values."""
    width = max(1, (count - 1).bit_length())
    return bytes([width]) + _run(cells, width)


def list_levels(lengths: Iterable[int]) -> bytes:
    """Of lists with a cell at least: which cells begin one, and that each is there."""
    begins: list[int] = []
    for length in lengths:
        begins.append(0)
        begins += [1] * (length - 1)
    return _sized(_run(begins, 1)) + _sized(varint(len(begins) << 1) + b"\1")


def _sized(content: bytes) -> bytes:
    return packing.pack("<I", len(content)) + content


def _run(cells: Sequence[int], width: int) -> bytes:
    """One run of packed cells, filled up to eight."""
    return varint((len(cells) + 7) // 8 << 1 | 1) + _packed(cells, width, fill=True)


def _packed(cells: Sequence[int], width: int, fill: bool = False) -> bytes:
    out = bytearray()
    for begin in range(0, len(cells), 8):
        group = 0
        eight = cells[begin : begin + 8]
        for place, cell in enumerate(eight):
            group |= cell << (place * width)
        size = width if fill else (len(eight) * width + 7) // 8
        out += group.to_bytes(size, "little")
    return bytes(out)
