"""A Perfetto trace: samples with their stacks, and what the program told, on one axis.

Slices stand on their thread's track, those that cross others on tracks below it; async events,
frames and counters on tracks of their process. Stacks are interned. Lost: weights of samples, tags,
cut stacks, definitions' lines.
"""

from __future__ import annotations

import struct
from itertools import chain
from typing import BinaryIO, Iterable, Iterator, NamedTuple, Optional

from ...model import NO_OFFSET, Library
from ...profile import Frame, Profile, Thread
from ...timeline import (
    ASYNC_BEGIN,
    ASYNC_END,
    ASYNC_INSTANT,
    COUNTER,
    FLOW_BEGIN,
    FLOW_END,
    FLOW_STEP,
    FRAME,
    NO_BEGIN,
    OPEN,
    SLICE,
    Event,
    Timeline,
    Value,
)
from ..common import in_time, path_of, pid_of, thread_key
from ..protobuf import data, number

_SEQUENCE, _CLEARED, _NEEDS_STATE, _MONOTONIC = 1, 1, 2, 3
_BEGIN, _END, _INSTANT, _COUNTER = 1, 2, 3, 4
_OWN = 1 << 63  # a track of neither a process nor a thread


def write(profile: Profile, out: BinaryIO) -> None:
    for packet in packets(profile):
        out.write(data(1, packet))


def packets(profile: Profile) -> Iterator[bytes]:
    """Each with what all of them have."""
    timeline = profile.timeline or Timeline()
    state = number(10, _SEQUENCE)
    yield state + number(13, _CLEARED) + data(6, _clock(profile, timeline))
    state += number(13, _NEEDS_STATE)
    for packet in chain(_threads(profile, timeline), _samples(profile), _Tracks().all(timeline)):
        yield state + packet


def _clock(profile: Profile, timeline: Timeline) -> bytes:
    now_ns = max(profile.last_us * 1000, timeline.last_ns)
    return data(1, number(1, _MONOTONIC) + number(2, now_ns)) + number(2, _MONOTONIC)


def _thread_uuid(thread: Thread) -> int:
    pid = pid_of(thread.process)
    return pid << 32 | thread.tid if thread.tid else pid


def _text(field: int, value: str) -> bytes:
    return data(field, value.encode("utf-8", "replace"))


def _track(uuid: int, name: str, parent: int = 0, more: bytes = b"") -> bytes:
    return data(60, number(1, uuid) + _text(2, name) + number(5, parent) + more)


def _threads(profile: Profile, timeline: Timeline) -> Iterator[bytes]:
    known = {_thread_uuid(thread): thread for thread in (*profile.threads, *timeline.threads)}
    threads = sorted(known.values(), key=thread_key)
    for process in dict.fromkeys(thread.process for thread in threads):
        pid = pid_of(process)
        yield _track(pid, process.name, more=data(3, number(1, pid) + _text(6, process.name)))
    for thread in threads:
        pid = pid_of(thread.process)
        name = thread.name or thread.process.name
        told = data(4, number(1, pid) + number(2, thread.tid) + _text(5, name))
        if thread.tid:
            yield data(60, number(1, _thread_uuid(thread)) + number(5, pid) + told)


# Samples.


def _samples(profile: Profile) -> Iterator[bytes]:
    """Libraries, frames and stacks stand in front of the first sample that has them."""
    mappings: dict[Library, int] = {}
    frames: set[int] = set()
    stacks: set[int] = set()
    for place in in_time(profile):
        node, thread = profile.nodes[place], profile.threads[profile.sample_threads[place]]
        if node not in stacks:
            stacks.add(node)
            stack = _outermost_first(profile, node)
            for number_ in (one for one in stack if one not in frames):
                frames.add(number_)
                yield from _frame(profile.frames[number_], number_ + 1, mappings)
            told = b"".join(number(2, frame + 1) for frame in stack)
            yield data(12, data(7, number(1, node) + told))
        sample = number(2, pid_of(thread.process)) + number(3, thread.tid) + number(4, node)
        yield number(8, profile.times_us[place] * 1000) + number(58, _MONOTONIC) + data(66, sample)


def _frame(frame: Frame, iid: int, mappings: dict[Library, int]) -> Iterator[bytes]:
    library = frame.function.library
    if library and library not in mappings:
        mapping = mappings[library] = len(mappings) + 1
        build = data(16, number(1, mapping) + _text(2, library.build_id))
        path = data(17, number(1, mapping) + _text(2, path_of(library)))
        ids = number(1, mapping) + number(2, mapping) + number(7, mapping)
        yield data(12, build + path + data(19, ids))
    name = data(5, number(1, iid) + _text(2, frame.function.name))
    told = number(1, iid) + number(2, iid) + number(6, frame.line)
    if library:
        told += number(3, mappings[library])
    if frame.offset != NO_OFFSET:
        told += number(4, frame.offset)
    yield data(12, name + data(6, told))


def _outermost_first(profile: Profile, node: int) -> list[int]:
    frames = []
    while node:
        frames.append(profile.node_frames[node])
        node = profile.callers[node]
    return frames[::-1]


# Events.


class _Side(NamedTuple):
    at_ns: int
    kind: int  # _END before _BEGIN where they share a moment
    depth: int  # inner ends first, outer begins first
    place: int


class _Tracks:
    """Events as packets, and their tracks in front of them."""

    def __init__(self) -> None:
        self._known: dict[object, int] = {}
        self._lanes: dict[int, list[list[int]]] = {}  # ends of what stands open, by track and lane
        self._at: dict[int, int] = {}  # the track of a slice that stands open

    def all(self, timeline: Timeline) -> Iterator[bytes]:
        for side in sorted(_sides(timeline), key=lambda s: (s.at_ns, s.kind != _END, s.depth, s.place)):
            event = timeline.event(side.place)
            if event.kind == COUNTER:
                yield from self._counter(event)
            elif event.kind in (ASYNC_BEGIN, ASYNC_INSTANT, ASYNC_END):
                yield from self._on_own(event, side.kind, event.id)
            elif side.kind == _INSTANT and event.kind != FRAME:
                yield _event(_INSTANT, _thread_uuid(event.thread), event, side.at_ns)
            else:
                yield from self._of_slice(event, side)

    def _new(self, key: object, name: str, parent: int, more: bytes = b"") -> tuple[int, list[bytes]]:
        uuid = self._known.get(key)
        if uuid is not None:
            return uuid, []
        uuid = self._known[key] = _OWN | len(self._known) + 1
        return uuid, [_track(uuid, name, parent, more)]

    def _on_own(self, event: Event, kind: int, id: int) -> Iterator[bytes]:
        process = event.thread.process
        uuid, told = self._new((process.id, event.stream, event.name, id), event.name, pid_of(process))
        yield from told
        yield _event(kind, uuid, event, event.start_ns)

    def _counter(self, event: Event) -> Iterator[bytes]:
        process = event.thread.process
        for series, value in event.arguments.items():
            if isinstance(value, str):
                continue
            name = f"{event.name}: {series}" if len(event.arguments) > 1 else event.name
            key = "counter", process.id, event.name, series
            uuid, told = self._new(key, name, pid_of(process), data(8, b""))
            yield from told
            yield _at(event.start_ns) + data(11, number(9, _COUNTER) + number(11, uuid) + _amount(value))

    def _of_slice(self, event: Event, side: _Side) -> Iterator[bytes]:
        told: list[bytes] = []
        track = _thread_uuid(event.thread)
        if event.kind == FRAME:
            process = event.thread.process
            track, told = self._new(("frame", process.id, event.name), event.name, pid_of(process))
        yield from told
        if side.kind != _END:
            lane = self._lane(track, event)
            if lane:
                name = f"{event.name if event.kind == FRAME else event.thread.name} ({lane + 1})"
                track, told = self._new(("lane", track, lane), name, track)
                yield from told
            self._at[side.place] = track
        at = self._at.pop(side.place) if side.kind == _END else self._at[side.place]
        yield _event(_END if side.kind == _END else _BEGIN, at, event, side.at_ns)
        if side.kind == _INSTANT:  # it has no length
            yield _event(_END, at, event, side.at_ns)

    def _lane(self, track: int, event: Event) -> int:
        """The first in which it ends within all that stand open."""
        end_ns = 1 << 63 if event.mark == OPEN else event.end_ns
        lanes = self._lanes.setdefault(track, [])
        for number_, open in enumerate(lanes):
            while open and open[-1] <= event.start_ns:
                open.pop()
            if not open or open[-1] >= end_ns:
                open.append(end_ns)
                return number_
        lanes.append([end_ns])
        return len(lanes) - 1


def _sides(timeline: Timeline) -> Iterator[_Side]:
    """What has no sides, or no length, is one instant."""
    own = {ASYNC_BEGIN: _BEGIN, ASYNC_END: _END}
    for place, kind in enumerate(timeline.kinds):
        start, duration = timeline.starts_ns[place], timeline.durations_ns[place]
        depth, mark = timeline.depths[place], timeline.marks.get(place)
        if kind not in (SLICE, FRAME) or not duration or mark == NO_BEGIN:
            yield _Side(start, own.get(kind, _INSTANT), 0, place)
            continue
        yield _Side(start, _BEGIN, depth, place)
        if mark != OPEN:
            yield _Side(start + duration, _END, -depth, place)


def _at(ns: int) -> bytes:
    return number(8, ns) + number(58, _MONOTONIC)


def _event(kind: int, track: int, event: Event, at_ns: int) -> bytes:
    told = number(9, kind) + number(11, track)
    if kind != _END:
        name = "(end without a begin)" if event.mark == NO_BEGIN else event.name
        told += _text(22, event.stream) + _text(23, name)
        told += b"".join(data(4, _text(10, key) + _argument(value)) for key, value in event.arguments.items())
        if event.kind in (FLOW_BEGIN, FLOW_STEP):
            told += _fixed(47, event.id)
        if event.kind == FLOW_END:
            told += _fixed(48, event.id)
    return _at(at_ns) + data(11, told)


def _fixed(field: int, value: int) -> bytes:
    return bytes(_tag(field, 1)) + struct.pack("<Q", value & (1 << 64) - 1)


def _double(field: int, value: float) -> bytes:
    return bytes(_tag(field, 1)) + struct.pack("<d", value)


def _tag(field: int, kind: int) -> Iterable[int]:
    key = field << 3 | kind
    return [key] if key < 0x80 else [key & 0x7F | 0x80, key >> 7]


def _argument(value: Value) -> bytes:
    if isinstance(value, str):
        return _text(6, value)
    return _double(5, value) if isinstance(value, float) else number(4, value)


def _amount(value: Optional[Value]) -> bytes:
    if isinstance(value, float):
        return _double(44, value)
    return number(30, int(value or 0))
