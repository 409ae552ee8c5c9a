"""Columns of numbers of a session file (docs/session_format.md).

Those of samples are read by numpy where it is installed, ten times as fast as without: `Columns` is the plain way,
`NumpyColumns` the other. What they read is the same.

Errors   ValueError.
"""

from __future__ import annotations

import re
from array import array
from typing import Any, NamedTuple, Sequence

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
    """Of a piece."""

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

    def samples(self, piece: dict[str, Any], columns: list[bytes], callers: int) -> Samples:
        """columns: source, cpu, time, caller, leaf. callers: so many the chunk has by then."""
        sources, late = numbers(columns[0]), signed(columns[2])
        base, unit = piece["cpuBase"], piece["cpuUnit"]
        used_us = [((n + base) * unit + 5) // 10 for n in signed(columns[1])]
        stacks = []
        rows = zip(numbers(columns[3]), numbers(columns[4]))
        for caller, leaf in rows:
            if not caller:
                caller = callers = callers + 1
            stacks.append(caller << 32 | leaf)
        _same_length(sources, used_us, late, stacks)
        new = [place for place, stack in enumerate(stacks) if not stack & 0xFFFFFFFF]
        return Samples(sources, used_us, _times(piece["minUs"], sources, used_us, late), stacks, new)


def _times(begin_us: int, sources: list[int], used_us: list[int], late: list[int]) -> list[int]:
    """Each source's next sample is due when its CPU time has passed."""
    last: dict[int, int] = {}
    times = []
    for source, used, late_us in zip(sources, used_us, late):
        last[source] = now_us = last.get(source, begin_us) + used + late_us
        times.append(now_us)
    return times


def _same_length(*columns: Any) -> None:
    if len({len(one) for one in columns}) != 1:
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

    def samples(self, piece: dict[str, Any], columns: list[bytes], callers: int) -> Samples:
        np = self._np
        sources, caller, leaf = (self._numbers(columns[place]).astype("i8") for place in (0, 3, 4))
        cpu, late = self._signed(columns[1]), self._signed(columns[2])
        _same_length(sources, cpu, late, caller, leaf)
        used_us = ((cpu + piece["cpuBase"]) * piece["cpuUnit"] + 5) // 10
        times_us = piece["minUs"] + self._sums(sources, used_us + late)
        first = np.flatnonzero(caller == 0)
        caller[first] = np.arange(callers + 1, callers + 1 + len(first))
        new = np.flatnonzero(leaf == 0).tolist()
        stacks = (caller << 32 | leaf).tolist()
        return Samples(array("I", sources.astype("u4").tobytes()), _longs(used_us), _longs(times_us), stacks, new)

    def _sums(self, sources: Any, steps: Any) -> Any:
        """Of each source's steps up to each of them."""
        np = self._np
        if not len(sources) or not (sources != sources[0]).any():
            return np.cumsum(steps)
        order = np.argsort(sources, kind="stable")
        sums, of = np.cumsum(steps[order]), sources[order]
        begins = np.flatnonzero(np.diff(of, prepend=of[0] - 1))
        before = sums[begins] - steps[order][begins]
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
