"""Columns of numbers of a session file (docs/session_format.md).

Those of samples are read by numpy where it is installed, ten times as fast as without: `Columns` is the plain way,
`NumpyColumns` the other. What they read is the same.

Errors   ValueError.
"""

from __future__ import annotations

import re
from array import array
from typing import Any, Iterator, NamedTuple, Sequence

__all__ = ["Columns", "NumpyColumns", "Samples", "fast_columns", "numbers", "signed", "split"]

_NUMERAL = re.compile(rb"[\x80-\xff]{0,9}[\x00-\x7f]")
_WORTH_IT = 1 << 20  # bytes of a file: below, loading numpy takes longer than it saves
_BROKEN = "a column ends within a number, or has one of more than 64 bits"


def split(content: bytes, count: int) -> list[bytes]:
    """ValueError where there are not so many, or something behind them."""
    found, at = [], 0
    for _ in range(count):
        size = _NUMERAL.match(content, at)
        if size is None:
            raise ValueError("its columns are not whole")
        at = size.end() + _value(size[0])
        found.append(content[size.end() : at])
    if at != len(content):
        raise ValueError("its columns are not whole")
    return found


def numbers(column: bytes) -> list[int]:
    if column.isascii():
        return list(column)
    return list(map(_Values().__getitem__, _numerals(column)))


def signed(column: bytes) -> list[int]:
    return list(map(_Signed().__getitem__, _numerals(column)))


def _numerals(column: bytes) -> list[bytes]:
    found = _NUMERAL.findall(column)
    if sum(map(len, found)) != len(column):
        raise ValueError(_BROKEN)
    return found


def _value(numeral: bytes) -> int:
    return sum((byte & 127) << 7 * place for place, byte in enumerate(numeral))


class _Values(dict[bytes, int]):
    """By numerals as they are written: of a million there are some thousand different ones."""

    def __missing__(self, numeral: bytes) -> int:
        self[numeral] = value = _value(numeral)
        return value


class _Signed(dict[bytes, int]):
    def __missing__(self, numeral: bytes) -> int:
        value = _value(numeral)
        self[numeral] = found = (value >> 1) ^ -(value & 1)
        return found


class Samples(NamedTuple):
    """Of a chunk."""

    sources: Sequence[int]
    used_us: Sequence[int]  # CPU time
    times_us: Sequence[int]
    stacks: list[int]  # number of the caller << 32 | number of the leaf; 0: it is a new one
    new: list[int]  # places of those


class Columns:
    """The plain way."""

    def numbers(self, column: bytes) -> list[int]:
        return numbers(column)

    def signed(self, column: bytes) -> list[int]:
        return signed(column)

    def samples(self, pieces: list[dict[str, Any]], columns: list[bytes]) -> Samples:
        """Of all pieces of a chunk. columns: source, cpu, time, caller, leaf."""
        sources, late, callers, leaves = (numbers(columns[0]), signed(columns[2]), *map(numbers, columns[3:]))
        cpu = signed(columns[1])
        _of_length(_count(pieces), sources, cpu, late, callers, leaves)
        used_us: list[int] = []
        times_us: list[int] = []
        end = 0
        for piece in pieces:
            these = slice(end, end := end + piece["samples"])
            base, unit = piece["cpuBase"], piece["cpuUnit"]
            used_us += [((n + base) * unit + 5) // 10 for n in cpu[these]]
            times_us += _times(piece["minUs"], sources[these], used_us[these], late[these])
        stacks, known = [], 0
        for caller, leaf in zip(callers, leaves):
            if not caller:
                caller = known = known + 1
            stacks.append(caller << 32 | leaf)
        new = [place for place, leaf in enumerate(leaves) if not leaf]
        return Samples(sources, used_us, times_us, stacks, new)


def _times(begin_us: int, sources: list[int], used_us: list[int], late: list[int]) -> Iterator[int]:
    """Each source's next sample is due when its CPU time has passed."""
    last: dict[int, int] = {}
    for source, used, late_us in zip(sources, used_us, late):
        last[source] = now_us = last.get(source, begin_us) + used + late_us
        yield now_us


def _count(pieces: list[dict[str, Any]]) -> int:
    return sum(int(piece["samples"]) for piece in pieces)


def _of_length(count: int, *columns: Any) -> None:
    if {len(one) for one in columns} != {count}:
        raise ValueError("its columns have different lengths")


class NumpyColumns(Columns):
    def __init__(self, numpy: Any) -> None:
        self._np = numpy

    def numbers(self, column: bytes) -> list[int]:
        found: list[int] = self._numbers(column).tolist()
        return found

    def signed(self, column: bytes) -> list[int]:
        found: list[int] = self._signed(column).tolist()
        return found

    def samples(self, pieces: list[dict[str, Any]], columns: list[bytes]) -> Samples:
        np = self._np
        sources, caller, leaf = (self._numbers(columns[place]).astype("i8") for place in (0, 3, 4))
        cpu, late = self._signed(columns[1]), self._signed(columns[2])
        _of_length(_count(pieces), sources, cpu, late, caller, leaf)
        counts = [piece["samples"] for piece in pieces]
        base, unit, begin_us = (
            np.repeat(np.array([piece[name] for piece in pieces], "i8"), counts)
            for name in ("cpuBase", "cpuUnit", "minUs")
        )
        used_us = ((cpu + base) * unit + 5) // 10
        numbers_of_pieces = np.repeat(np.arange(len(pieces)), counts)
        times_us = begin_us + self._sums(numbers_of_pieces << 32 | sources, used_us + late)
        first = np.flatnonzero(caller == 0)
        caller[first] = np.arange(1, 1 + len(first))
        new = np.flatnonzero(leaf == 0).tolist()
        stacks = (caller << 32 | leaf).tolist()
        return Samples(sources.tolist(), _longs(used_us), _longs(times_us), stacks, new)

    def _sums(self, groups: Any, steps: Any) -> Any:
        """Of each group's steps up to each of them."""
        np = self._np
        order = np.argsort(groups, kind="stable")
        of, in_order = groups[order], steps[order]
        sums = np.cumsum(in_order)
        begins = np.flatnonzero(np.diff(of, prepend=-1))
        before = sums[begins] - in_order[begins]
        found = np.empty_like(sums)
        found[order] = sums - np.repeat(before, np.diff(begins, append=len(of)))
        return found

    def _numbers(self, column: bytes) -> Any:
        np = self._np
        whole = np.frombuffer(column, "u1")
        if column.isascii():
            return whole.astype("u8")
        ends = np.flatnonzero(whole < 128)
        begins = np.concatenate(([0], ends[:-1] + 1))
        more = ends - begins  # bytes behind the first
        longest = int(more.max(initial=0))
        if not len(ends) or ends[-1] + 1 != len(whole) or longest > 9 or (whole[ends[more == 9]] > 1).any():
            raise ValueError(_BROKEN)
        parts = (whole & 127).astype("u8")
        found = parts[begins]
        for place in range(1, longest + 1):
            these = np.flatnonzero(more >= place)
            found[these] |= parts[begins[these] + place] << np.uint64(7 * place)
        return found

    def _signed(self, column: bytes) -> Any:
        found = self._numbers(column)
        one = self._np.uint64(1)
        return (found >> one).astype("i8") ^ -(found & one).astype("i8")


def _longs(numbers: Any) -> array[int]:
    return array("q", numbers.astype("i8").tobytes())


def fast_columns(size: int) -> Columns:
    """For a file of so many bytes."""
    if size < _WORTH_IT:
        return Columns()
    try:
        import numpy
    except ImportError:
        return Columns()
    return NumpyColumns(numpy)
