"""Blocks of events of a session file (docs/session_format.md) into a Timeline.

    EVTS (what comes), EVNT (columns) -> SessionEvents.add -> Timeline, in the order of arrival

Errors   ValueError, KeyError and the like where a block breaks its description; the caller says where it is.
"""

from __future__ import annotations

import json
import struct
from itertools import accumulate
from typing import Any, Callable, Iterator, Optional

from ..model import Process
from ..profile import Thread
from ..timeline import ASYNC_BEGIN, FLOW_END, FRAME, KINDS, MARKS, SLICE, Event, Timeline, Value
from .session_blocks import Block, Unpacker, columns, numbers, signed

_COLUMNS = 15
_INT, _UINT, _DOUBLE, _TEXT = range(4)
_MODULUS = 1 << 64


class SessionEvents:
    """thread: the file's number of one -> who it is."""

    def __init__(self, thread: Callable[[int], tuple[Process, int, str]]) -> None:
        self._thread = thread
        self._outline: Optional[dict[str, Any]] = None
        self.timeline = Timeline()

    def describe(self, block: Block) -> None:
        """EVTS"""
        self._outline = json.loads(Unpacker().read(block))

    def add(self, block: Block) -> None:
        """EVNT"""
        outline, self._outline = self._outline, None
        if outline is None:
            raise ValueError("it has no 'EVTS' before it")
        try:
            for event in _events(outline, columns(Unpacker().read(block), _COLUMNS), self._thread):
                self.timeline.add(event)
        except (RuntimeError, struct.error) as error:  # a column ended within a generator
            raise ValueError("its columns have other lengths than it says") from error


def _events(
    outline: dict[str, Any], parts: list[bytes], thread: Callable[[int], tuple[Process, int, str]]
) -> Iterator[Event]:
    lengths, texts, streams, sources, what, names, ends = parts[:7]
    words = _words(numbers(lengths), texts)
    threads = [Thread(*thread(number)) for number, _ in outline["sources"]]
    categories = [words[number] for number in numbers(streams)]
    durations, depths, ids = iter(numbers(parts[7])), iter(numbers(parts[8])), _ids(parts[9])
    arguments = _arguments(parts[10:], words)
    rows = list(zip(numbers(sources), what, numbers(names), accumulate(signed(ends))))
    if len(rows) != outline["events"] or len(categories) != len(threads) or len(what) != len(rows):
        raise ValueError("its columns have other lengths than it says")
    for source, byte, name, end_ns in rows:
        kind, mark = byte & 15, byte >> 4 & 3
        if kind >= len(KINDS):
            raise ValueError(f"an event of kind {kind}")
        duration_ns = next(durations) if kind in (SLICE, FRAME) else 0
        yield Event(
            kind,
            threads[source],
            words[name],
            categories[source],
            end_ns - duration_ns,
            duration_ns,
            next(depths) if kind == SLICE else 0,
            MARKS[mark - 1] if mark else "",
            next(ids) if ASYNC_BEGIN <= kind <= FLOW_END or kind == FRAME else 0,
            next(arguments) if byte & 128 else {},
        )
    if any(next(rest, None) is not None for rest in (durations, depths, ids, arguments)):
        raise ValueError("its columns have other lengths than it says")


def _words(lengths: list[int], texts: bytes) -> list[str]:
    ends = list(accumulate(lengths))
    if (ends[-1] if ends else 0) != len(texts):
        raise ValueError("its texts have other lengths than it says")
    return ["", *(texts[end - size : end].decode("utf-8", "replace") for size, end in zip(lengths, ends))]


def _ids(column: bytes) -> Iterator[int]:
    return (id % _MODULUS for id in accumulate(signed(column)))


def _arguments(parts: list[bytes], words: list[str]) -> Iterator[dict[str, Value]]:
    """Of each event that has some."""
    counts, names, types, values, doubles = parts
    named, read = iter(numbers(names)), _values(types, values, doubles, words)
    for count in numbers(counts):
        yield {words[next(named)]: next(read) for _ in range(count)}


def _values(types: bytes, values: bytes, doubles: bytes, words: list[str]) -> Iterator[Value]:
    plain = iter(numbers(values))
    floats = (number for (number,) in struct.iter_unpack("<d", doubles))
    for kind in types:
        if kind == _DOUBLE:
            yield next(floats)
            continue
        value = next(plain)
        if kind == _INT:
            yield (value >> 1) ^ -(value & 1)
        elif kind == _UINT:
            yield value
        elif kind == _TEXT:
            yield words[value]
        else:
            raise ValueError(f"an argument of type {kind}")
