"""A Parquet file: columns of numbers, truths and texts, or of lists of them; a cell is never missing.

    file = ParquetFile(out, [Column("pid", INT64), Column("stack", TEXT, is_list=True)], {"kind": "time"})
    file.rows({"pid": [1, 2], "stack": [["a", "b"], ["b"]]})      as often as there is a piece
    file.close()

Texts are numbers of a dictionary in each piece; pages are packed with gzip, which all readers have. Lists are not empty.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any, BinaryIO, NamedTuple, Optional

from .pages import PLAIN, RLE, RLE_DICTIONARY, Page, data_page, dictionary_page, list_levels, numbers, plain
from .thrift import Value, i32, i64, many, struct, text

_MAGIC = b"PAR1"
_VERSION, _GZIP = 2, 2
_REQUIRED, _REPEATED = 0, 2
_AS_TEXT, _AS_LIST = 0, 3  # converted types, for old readers
_LOGICAL_TEXT, _LOGICAL_LIST = 1, 3


class Type(NamedTuple):
    number: int
    code: str  # of the struct module; "": a text


BOOLEAN, INT64, DOUBLE, TEXT = Type(0, "?"), Type(2, "q"), Type(5, "d"), Type(6, "")


class Column(NamedTuple):
    name: str
    type: Type
    is_list: bool = False

    @property
    def path(self) -> list[str]:
        return [self.name, "list", "element"] if self.is_list else [self.name]

    def schema(self) -> list[Value]:
        if not self.is_list:
            return [self._cell(self.name)]
        outer = {3: i32(_REQUIRED), 4: text(self.name), 5: i32(1), 6: i32(_AS_LIST),
                 10: struct({_LOGICAL_LIST: struct({})})}
        return [struct(outer), struct({3: i32(_REPEATED), 4: text("list"), 5: i32(1)}), self._cell("element")]

    def _cell(self, name: str) -> Value:
        is_text = self.type is TEXT
        return struct({1: i32(self.type.number), 3: i32(_REQUIRED), 4: text(name),
                       6: i32(_AS_TEXT) if is_text else None,
                       10: struct({_LOGICAL_TEXT: struct({})}) if is_text else None})


class ParquetFile:
    def __init__(self, out: BinaryIO, columns: Sequence[Column], told: dict[str, str]) -> None:
        """told: about the file, for readers who look."""
        self._out = out
        self._columns = columns
        self._told = told
        self._at = 0
        self._groups: list[Value] = []
        self._count = 0
        self._put(_MAGIC)

    def rows(self, cells: dict[str, Sequence[Any]]) -> None:
        """By column, one row at least; kept as a group of its own."""
        begin, unpacked, chunks = self._at, 0, []
        for column in self._columns:
            chunk, size = self._chunk(column, cells[column.name])
            chunks.append(chunk)
            unpacked += size
        count = len(cells[self._columns[0].name])
        self._count += count
        self._groups.append(struct({1: many(chunks), 2: i64(unpacked), 3: i64(count), 5: i64(begin)}))

    def close(self) -> None:
        root = struct({4: text("schema"), 5: i32(len(self._columns))})
        schema = [root, *chain.from_iterable(column.schema() for column in self._columns)]
        told = [struct({1: text(key), 2: text(value)}) for key, value in self._told.items()]
        footer = struct({1: i32(_VERSION), 2: many(schema), 3: i64(self._count), 4: many(self._groups),
                         5: many(told) if told else None, 6: text("isoscope")}).content
        self._put(footer + len(footer).to_bytes(4, "little") + _MAGIC)

    def _put(self, content: bytes) -> None:
        self._out.write(content)
        self._at += len(content)

    def _chunk(self, column: Column, rows: Sequence[Any]) -> tuple[Value, int]:
        levels = list_levels(map(len, rows)) if column.is_list else b""
        cells = list(chain.from_iterable(rows)) if column.is_list else rows
        begin, dictionary = self._at, None
        if column.type is TEXT:
            known: dict[str, int] = {}
            of = [known.setdefault(cell, len(known)) for cell in cells]
            dictionary = dictionary_page(list(known))
            page = data_page(len(cells), RLE_DICTIONARY, levels + numbers(of, len(known)))
        else:
            page = data_page(len(cells), PLAIN, levels + plain(column.type.code, cells))
        return self._put_chunk(column, begin, len(cells), dictionary, page)

    def _put_chunk(self, column: Column, begin: int, count: int, dictionary: Optional[Page],
                   page: Page) -> tuple[Value, int]:
        pages = [dictionary, page] if dictionary else [page]
        packed, unpacked = sum(len(one.content) for one in pages), sum(one.unpacked for one in pages)
        encodings = [PLAIN, RLE, RLE_DICTIONARY] if dictionary else [PLAIN, RLE]
        described = struct({
            1: i32(column.type.number),
            2: many([i32(one) for one in encodings]),
            3: many([text(word) for word in column.path]),
            4: i32(_GZIP),
            5: i64(count),
            6: i64(unpacked),
            7: i64(packed),
            9: i64(begin + (len(dictionary.content) if dictionary else 0)),
            11: i64(begin) if dictionary else None,
        })
        for one in pages:
            self._put(one.content)
        return struct({2: i64(begin), 3: described}), unpacked
