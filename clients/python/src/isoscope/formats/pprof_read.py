"""Reading pprof's profile.proto, unzipped, into a Profile (pprof.py says what is in it)."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain
from typing import Mapping, NamedTuple, Optional, Union

from ..errors import BadFile
from ..model import NO_OFFSET, Code, Function, Library, Process
from ..profile import Profile
from .common import middle_weight, repeated
from .pprof_fields import FUNCTION, LABEL, LINE, LOCATION, MAPPING, PROFILE, SAMPLE, VALUE_TYPE
from .protobuf import fields, number_fields, numbers, numerals, signed

_UNIT_NS = {"nanoseconds": 1, "microseconds": 1000, "milliseconds": 10**6, "seconds": 10**9}
_Labels = dict[str, Union[str, int]]


class _Location(NamedTuple):
    lines: list[tuple[int, int]]  # function, line; innermost first
    offset: int


def read(content: bytes) -> Profile:
    try:
        return _Reader(content).profile()
    except (IndexError, KeyError, TypeError, ValueError) as error:
        raise BadFile(f"a pprof profile that lacks or breaks {error!r}") from error


@dataclass
class _Parts:
    """The top message, taken apart."""

    strings: list[str] = field(default_factory=list)
    types: list[tuple[int, int]] = field(default_factory=list)  # type, unit
    samples: list[bytes] = field(default_factory=list)
    mappings: dict[int, dict[int, int]] = field(default_factory=dict)
    locations: list[bytes] = field(default_factory=list)
    functions: list[bytes] = field(default_factory=list)
    period: int = 0
    period_type: tuple[int, int] = (0, 0)


class _Reader:
    def __init__(self, content: bytes) -> None:
        self._parts = parts = _split(content)
        if not parts.types or not parts.strings:
            raise BadFile("no pprof profile: it names no kinds of values")
        self._kinds = [(parts.strings[k], parts.strings[u]) for k, u in parts.types]
        self._functions: dict[int, Function] = {}
        self._libraries = {n: self._library(entry) for n, entry in parts.mappings.items()}
        self._locations: dict[int, _Location] = {}
        self._located: Optional[_Frames] = None
        self._sources: dict[tuple[bytes, ...], _Source] = {}

    def profile(self) -> Profile:
        profile, parts = Profile(pcs=True), self._parts
        self._read_tables()
        kind, unit = parts.period_type
        if parts.strings[unit] in _UNIT_NS:
            profile.period_us = parts.period * _UNIT_NS[parts.strings[unit]] // 1000
        count_at, time_at = self._columns()
        for content in parts.samples:
            self._add(profile, content, count_at, time_at)
        profile.period_us = profile.period_us or middle_weight(profile)
        return profile

    def _library(self, entry: Mapping[int, int]) -> Library:
        """Where the writer had loaded it is where its code is: more a file does not tell."""
        path = self._parts.strings[entry.get(MAPPING.filename, 0)]
        build_id = self._parts.strings[entry.get(MAPPING.build_id, 0)]
        start, limit = entry.get(MAPPING.memory_start, 0), entry.get(MAPPING.memory_limit, 0)
        file_offset = entry.get(MAPPING.file_offset, 0)
        code = Code(start, limit - start, file_offset, start) if limit > start else None
        return Library(path, path, path.rpartition("/")[2], path, False, build_id, code)

    def _columns(self) -> tuple[int, int]:
        """Which value is the number of samples, and which the time; -1: none."""
        count = time = -1
        for place, (kind, unit) in enumerate(self._kinds):
            if unit == "count" and kind in ("samples", "sample"):
                count = place
            elif unit in _UNIT_NS and time < 0:
                time = place
        if count < 0 and time < 0:
            there = ", ".join(f"{kind}/{unit}" for kind, unit in self._kinds)
            raise BadFile(f"pprof profile of {there}: it counts neither samples nor time")
        return count, time

    def _read_tables(self) -> None:
        strings = self._parts.strings
        raw: dict[int, dict[int, int]] = {}
        for content in self._parts.functions:
            entry = number_fields(content)
            raw[entry[FUNCTION.id]] = entry
        owners: dict[int, Library] = {}
        for content in self._parts.locations:
            lines: list[tuple[int, int]] = []
            number = mapping = address = 0
            for n, value in fields(content):
                if n == LOCATION.line and isinstance(value, bytes):
                    line = number_fields(value)
                    lines.append((line[LINE.function_id], signed(line.get(LINE.line, 0))))
                elif n == LOCATION.id:
                    number = int(value)
                elif n == LOCATION.mapping_id:
                    mapping = int(value)
                elif n == LOCATION.address:
                    address = int(value)
            if not lines:  # nobody has named it
                lines = [(-address - 1, 0)]
                raw[-address - 1] = {}
            known = address and mapping in self._libraries
            self._locations[number] = _Location(lines, address if known else NO_OFFSET)
            for function, _ in lines:
                if mapping in self._libraries:
                    owners.setdefault(function, self._libraries[mapping])
        for number, entry in raw.items():
            name = strings[entry.get(FUNCTION.name, 0)]
            self._functions[number] = Function(
                id=str(number),
                name=name or (f"{-number - 1:#x}" if number < 0 else "?"),
                library=owners.get(number),
                full_name=strings[entry.get(FUNCTION.system_name, 0)] or name,
                file=strings[entry.get(FUNCTION.filename, 0)],
                line=signed(entry.get(FUNCTION.start_line, 0)),
            )

    def _add(self, profile: Profile, content: bytes, count_at: int, time_at: int) -> None:
        stack: list[tuple[int, ...]] = []  # the locations' frames, leaf first
        values: list[int] = []
        labels: list[bytes] = []
        for n, value in fields(content):
            if n == SAMPLE.location_id:
                stack += map(self._frames(profile).__getitem__, numerals(value))
            elif n == SAMPLE.value:
                values += map(signed, numbers(value))
            elif n == SAMPLE.label and isinstance(value, bytes):
                labels.append(value)
        node = profile.stack_node(chain.from_iterable(reversed(stack)))
        if not node:
            return
        source = self._source(profile, tuple(labels))
        count = values[count_at] if count_at >= 0 else 1
        unit = _UNIT_NS[self._kinds[time_at][1]] if time_at >= 0 else 0
        time_us = values[time_at] * unit // 1000 if time_at >= 0 else 0
        for place in repeated(count, profile):
            profile.add_sample(
                0,
                source.thread,
                node,
                weight_us=time_us * (place + 1) // count - time_us * place // count,
                user_tag=source.tag,
                state=source.state,
                whole=source.whole,
            )

    def _frames(self, profile: Profile) -> _Frames:
        if self._located is None:
            self._located = _Frames(profile, self._locations, self._functions)
        return self._located

    def _source(self, profile: Profile, contents: tuple[bytes, ...]) -> _Source:
        """Samples of one thread have the same labels, to the byte."""
        known = self._sources.get(contents)
        if known is None:
            known = self._sources[contents] = self._read_source(profile, contents)
        return known

    def _read_source(self, profile: Profile, contents: tuple[bytes, ...]) -> _Source:
        labels: _Labels = {}
        for content in contents:
            self._label(content, labels)
        pid, tid = int(labels.get("pid", 0)), int(labels.get("tid", 0))
        process = Process(f"isolates/{pid}", str(labels.get("process", "program")), pid or None)
        return _Source(
            profile.thread(process, tid, str(labels.get("thread", ""))),
            str(labels.get("tag", "")),
            str(labels.get("state", "")),
            labels.get("stack") != "cut",
        )

    def _label(self, content: bytes, labels: _Labels) -> None:
        entry = number_fields(content)
        key = self._parts.strings[entry.get(LABEL.key, 0)]
        text = self._parts.strings[entry.get(LABEL.str, 0)]
        if text:
            labels[key] = text
        elif key in ("pid", "tid"):
            labels[key] = signed(entry.get(LABEL.num, 0))


class _Source(NamedTuple):
    """What a sample's labels say."""

    thread: int
    tag: str
    state: str
    whole: bool


class _Frames(dict[bytes, tuple[int, ...]]):
    """Of a location the profile's frames, outermost first. By its number as it stands in the file:
    a big profile has millions, and a few thousand that are different."""

    def __init__(
        self, profile: Profile, locations: dict[int, _Location], functions: dict[int, Function]
    ) -> None:
        super().__init__()
        self._profile, self._locations, self._functions = profile, locations, functions

    def __missing__(self, numeral: bytes) -> tuple[int, ...]:
        (location,) = numbers(numeral)
        lines, offset = self._locations[location]
        frames = [
            self._profile.frame(self._functions[function], line, depth < len(lines) - 1, offset)
            for depth, (function, line) in enumerate(lines)
        ]
        self[numeral] = made = tuple(frames[::-1])
        return made


def _split(content: bytes) -> _Parts:
    parts = _Parts()
    for number, value in fields(content):
        if number == PROFILE.period:
            parts.period = signed(int(value))
        if not isinstance(value, bytes):
            continue
        if number == PROFILE.string_table:
            parts.strings.append(value.decode("utf-8", "replace"))
        elif number in (PROFILE.sample_type, PROFILE.period_type):
            entry = number_fields(value)
            pair = entry.get(VALUE_TYPE.type, 0), entry.get(VALUE_TYPE.unit, 0)
            if number == PROFILE.sample_type:
                parts.types.append(pair)
            else:
                parts.period_type = pair
        elif number == PROFILE.sample:
            parts.samples.append(value)
        elif number == PROFILE.mapping:
            entry = number_fields(value)
            parts.mappings[entry[MAPPING.id]] = entry
        elif number == PROFILE.location:
            parts.locations.append(value)
        elif number == PROFILE.function:
            parts.functions.append(value)
    return parts
