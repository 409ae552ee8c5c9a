"""A small reader of Parquet, for what ours writes: of its own making, so that it does not share the writer's mistakes."""

from __future__ import annotations

import gzip
import struct
from typing import Any

STOP, TRUE, FALSE, I32, I64, BINARY, LIST, STRUCT = 0, 1, 2, 5, 6, 8, 9, 12


class Thrift:
    def __init__(self, content: bytes, at: int = 0) -> None:
        self.content, self.at = content, at

    def byte(self) -> int:
        self.at += 1
        return self.content[self.at - 1]

    def varint(self) -> int:
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7

    def integer(self) -> int:
        value = self.varint()
        return value >> 1 ^ -(value & 1)

    def value(self, kind: int) -> Any:
        if kind in (TRUE, FALSE):
            return kind == TRUE
        if kind in (I32, I64):
            return self.integer()
        if kind == BINARY:
            size = self.varint()
            self.at += size
            return self.content[self.at - size : self.at].decode()
        if kind == LIST:
            head = self.byte()
            count = head >> 4 if head >> 4 < 15 else self.varint()
            return [self.value(head & 15) for _ in range(count)]
        assert kind == STRUCT, kind
        return self.struct()

    def struct(self) -> dict[int, Any]:
        fields: dict[int, Any] = {}
        number = 0
        while (head := self.byte()) != STOP:
            number = number + (head >> 4) if head >> 4 else self.integer()
            fields[number] = self.value(head & 15)
        return fields


def hybrid(content: bytes, width: int, count: int) -> list[int]:
    """Runs of one value, or of packed ones."""
    found: list[int] = []
    reader = Thrift(content)
    while len(found) < count:
        head = reader.varint()
        if head & 1:
            size = (head >> 1) * width
            bits = int.from_bytes(content[reader.at : reader.at + size], "little")
            found += [bits >> place * width & (1 << width) - 1 for place in range((head >> 1) * 8)]
        else:
            size = (width + 7) // 8
            found += [int.from_bytes(content[reader.at : reader.at + size], "little")] * (head >> 1)
        reader.at += size
    return found[:count]


class Parquet:
    def __init__(self, content: bytes) -> None:
        assert content[:4] == content[-4:] == b"PAR1"
        size = int.from_bytes(content[-8:-4], "little")
        reader = Thrift(content, len(content) - 8 - size)
        self.footer = reader.struct()
        assert reader.at == len(content) - 8
        self.content = content
        self.told = {one[1]: one[2] for one in self.footer.get(5, [])}
        self.columns: dict[str, list[Any]] = {}
        for group in self.footer[4]:
            for chunk in group[1]:
                cells = self._chunk(chunk[3])
                assert len(cells) == group[3]
                self.columns.setdefault(chunk[3][3][0], []).extend(cells)
        assert {len(cells) for cells in self.columns.values()} == {self.footer[3]}

    def _page(self, at: int) -> tuple[dict[int, Any], bytes, int]:
        reader = Thrift(self.content, at)
        header = reader.struct()
        end = reader.at + header[3]
        content = gzip.decompress(self.content[reader.at : end])
        assert len(content) == header[2]
        return header, content, end

    def _chunk(self, described: dict[int, Any]) -> list[Any]:
        at, texts = described[9], None
        if 11 in described:
            header, content, at = self._page(described[11])
            assert at == described[9]
            texts = []
            place = 0
            for _ in range(header[7][1]):
                size = int.from_bytes(content[place : place + 4], "little")
                texts.append(content[place + 4 : place + 4 + size].decode())
                place += 4 + size
            assert place == len(content)
        header, content, end = self._page(at)
        assert end - described.get(11, described[9]) == described[7]
        count, begins = header[5][1], None
        if len(described[3]) > 1:
            levels = []
            for _ in range(2):
                size = int.from_bytes(content[:4], "little")
                levels.append(hybrid(content[4 : 4 + size], 1, count))
                content = content[4 + size :]
            begins, there = levels
            assert set(there) == {1}
        cells = self._cells(described[1], content, count, texts)
        if begins is None:
            return cells
        lists: list[list[Any]] = []
        for begin, cell in zip(begins, cells):
            if begin == 0:
                lists.append([])
            lists[-1].append(cell)
        return lists

    def _cells(self, kind: int, content: bytes, count: int, texts: Any) -> list[Any]:
        if texts is not None:
            return [texts[number] for number in hybrid(content[1:], content[0], count)]
        if kind == 0:
            return [bool(content[place // 8] >> place % 8 & 1) for place in range(count)]
        return list(struct.unpack(f"<{count}{'q' if kind == 2 else 'd'}", content))
