"""pprof's profile.proto, with gzip: what `go tool pprof` reads.

Samples of one stack, thread, tag and state are one entry with their number and their CPU time.
Labels: thread, tid, process, pid, tag, state, and stack: "cut" where the outer end is missing.
Inlined frames are further lines of their location. Lost: the time of each sample.

Where the profile keeps pcs, a location is one, and its address is made of that: the offset in the
module, moved to where no other module is (pprof looks addresses up without asking whose they are).
So the same code has the same address wherever it was loaded; the mapping says by how much it is
moved, and `go tool pprof -disasm` finds it in the file.

Reading takes other writers' files: without a number of samples each entry is one; a profile that
measures no time has none here.
"""

from __future__ import annotations

import gzip
from typing import BinaryIO, Optional

from ..model import Function, Library
from ..model import ALLOC, FAULT, LIVE, LOCK, TIME, WAIT
from ..profile import Profile
from .common import in_time, path_of, pid_of
from .pprof_fields import (
    FUNCTION,
    LABEL,
    LINE,
    LOCATION,
    MAPPING,
    PROFILE,
    SAMPLE,
    VALUE_TYPE,
)
from .pprof_places import Places
from .protobuf import data, number, packed


# As Go's and gperftools' profiles name them.
_TYPES = {
    TIME: (("samples", "count"), ("cpu", "nanoseconds")),
    ALLOC: (("alloc_objects", "count"), ("alloc_space", "bytes")),
    LOCK: (("contentions", "count"), ("delay", "nanoseconds")),
    WAIT: (("contentions", "count"), ("delay", "nanoseconds")),
    FAULT: (("samples", "count"), ("page_faults", "count")),
    LIVE: (("inuse_objects", "count"), ("inuse_space", "bytes")),
}


def write(profile: Profile, out: BinaryIO) -> None:
    # No name and no time: equal profiles are equal files.
    with gzip.GzipFile("", "wb", 6, out, mtime=0) as zipped:
        zipped.write(_Writer(profile).message())


class _Writer:
    def __init__(self, profile: Profile) -> None:
        self._profile = profile
        self._strings: dict[str, int] = {"": 0}
        self._mappings: dict[str, int] = {}
        self._places = Places(profile)
        self._functions: dict[Function, int] = {}
        self._locations: dict[tuple[int, ...], int] = {}  # frames, innermost first
        self._stacks: dict[int, list[int]] = {}  # node -> locations, leaf first
        self._tables = bytearray()

    def message(self) -> bytes:
        profile = self._profile
        self._mapping(_program_library(profile))  # pprof takes the first one for the program's
        samples = b"".join(self._samples())
        (count, count_unit), (amount, amount_unit) = _TYPES[profile.kind]
        samples_type = self._value_type(count, count_unit)
        cpu_type = self._value_type(amount, amount_unit)
        rest = [
            number(PROFILE.duration_nanos, (profile.last_us - profile.first_us) * 1000),
            data(PROFILE.period_type, cpu_type),
            number(PROFILE.period, 0 if profile.is_many else profile.period_us * 1000),
            number(PROFILE.default_sample_type, self._string(amount)),
        ]
        types = data(PROFILE.sample_type, samples_type) + data(PROFILE.sample_type, cpu_type)
        strings = b"".join(
            data(PROFILE.string_table, text.encode("utf-8", "replace")) for text in self._strings
        )
        return types + samples + bytes(self._tables) + strings + b"".join(rest)

    def _string(self, text: str) -> int:
        return self._strings.setdefault(text, len(self._strings))

    def _value_type(self, kind: str, unit: str) -> bytes:
        return number(VALUE_TYPE.type, self._string(kind)) + number(
            VALUE_TYPE.unit, self._string(unit)
        )

    def _samples(self) -> list[bytes]:
        profile = self._profile
        sums: dict[tuple[int, int, int, int, bool], list[float]] = {}
        for place in in_time(profile):
            key = (
                profile.nodes[place],
                profile.sample_threads[place],
                profile.user_tags[place],
                profile.states[place],
                place in profile.cut,
            )
            entry = sums.setdefault(key, [0, 0])
            entry[0] += profile.objects[place] if profile.is_many and not profile.is_counted else 1
            entry[1] += profile.weights_us[place] * (1 if profile.is_memory or profile.is_counted else 1000)
        return [self._sample(*key, [round(one) for one in values]) for key, values in sums.items()]

    def _sample(
        self, node: int, thread: int, tag: int, state: int, cut: bool, values: list[int]
    ) -> bytes:
        source = self._profile.threads[thread]
        labels = [
            self._label("thread", source.name),
            self._label("tid", value=source.tid),
            self._label("process", source.process.name),
            self._label("pid", value=pid_of(source.process)),
            self._label("tag", self._profile.tags[tag]),
            self._label("state", self._profile.vm_tags[state]),
            self._label("stack", "cut" if cut else ""),
        ]
        message = packed(SAMPLE.location_id, self._stack(node)) + packed(SAMPLE.value, values)
        return data(PROFILE.sample, message + b"".join(labels))

    def _label(self, key: str, text: str = "", value: int = 0) -> bytes:
        if not text and not value:
            return b""
        told = number(LABEL.str, self._string(text)) + number(LABEL.num, value)
        return data(SAMPLE.label, number(LABEL.key, self._string(key)) + told)

    def _stack(self, node: int) -> list[int]:
        known = self._stacks.get(node)
        if known is not None:
            return known
        profile, at = self._profile, node
        stack: list[int] = []
        frames: list[int] = []
        while at:
            frame = profile.node_frames[at]
            frames.append(frame)
            at = profile.callers[at]
            if not profile.frames[frame].inlined or not at:
                stack.append(self._location(tuple(frames)))
                frames = []
        self._stacks[node] = stack
        return stack

    def _location(self, frames: tuple[int, ...]) -> int:
        made = self._locations.get(frames)
        if made is None:
            made = self._locations[frames] = len(self._locations) + 1
            outer = self._profile.frames[frames[-1]].function
            message = number(LOCATION.id, made)
            message += number(LOCATION.mapping_id, self._mapping(outer.library))
            message += number(LOCATION.address, self._places.address(self._profile.frames[frames[-1]]))
            for frame in map(self._profile.frames.__getitem__, frames):
                line = number(LINE.function_id, self._function(frame.function))
                message += data(LOCATION.line, line + number(LINE.line, frame.line))
            self._tables += data(PROFILE.location, message)
        return made

    def _function(self, function: Function) -> int:
        made = self._functions.get(function)
        if made is None:
            made = self._functions[function] = len(self._functions) + 1
            message = number(FUNCTION.id, made)
            message += number(FUNCTION.name, self._string(function.name))
            message += number(FUNCTION.system_name, self._string(function.full_name))
            message += number(FUNCTION.filename, self._string(function.file))
            message += number(FUNCTION.start_line, function.line)
            self._tables += data(PROFILE.function, message)
        return made

    def _mapping(self, library: Optional[Library]) -> int:
        """0: none."""
        path = path_of(library)
        if library is None or not path:
            return 0
        made = self._mappings.get(path)
        if made is None:
            made = self._mappings[path] = len(self._mappings) + 1
            message = number(MAPPING.id, made) + number(MAPPING.filename, self._string(path))
            if place := self._places.of(library):
                message += number(MAPPING.memory_start, place.start)
                message += number(MAPPING.memory_limit, place.limit)
                message += number(MAPPING.file_offset, place.file_offset)
            message += number(MAPPING.build_id, self._string(library.build_id))
            for field in MAPPING.has:  # nothing is left for pprof to look up
                message += number(field, 1)
            self._tables += data(PROFILE.mapping, message)
        return made


def _program_library(profile: Profile) -> Optional[Library]:
    """That of the first process; None when nothing of it was on a stack."""
    names = {process.name for process in profile.processes}
    libraries = {path_of(l): l for l in (frame.function.library for frame in profile.frames) if l}
    programs = [path for path, library in libraries.items() if library.name in names]
    return libraries[min(programs)] if programs else None
