"""The Firefox Profiler's processed form, version 66 (newer readers upgrade it).

Times are from the profile's first sample or event on. User tags are markers, one from the first to
the last of samples in a row; so is each event that the program told. Addresses, where the profile keeps pcs, are counted from a module's first byte.
Lost: states, cut stacks.
"""

from __future__ import annotations

import uuid
from itertools import groupby
from typing import Any, BinaryIO, Optional

from ..model import NO_OFFSET, Function, Library
from ..profile import Frame, Profile
from ..timeline import (
    ASYNC_BEGIN,
    ASYNC_END,
    FRAME,
    KINDS,
    NO_BEGIN,
    SLICE,
    Event,
    Timeline,
)
from .common import AUTO, SAMPLES, ThreadSamples, by_thread, chosen, pid_of, start_us, thread_key
from .common import write_json

VERSION = 66
_CATEGORIES = {"Other": "grey", "Program": "yellow", "Library": "blue", "No source": "orange"}
_OTHER, _PROGRAM, _LIBRARY, _GENERATED = range(4)
_RESOURCE_IS_LIBRARY = 1
_INSTANT, _INTERVAL, _STARTS, _ENDS = range(4)  # a marker's phase
_NAMELESS = "(end without a begin)"


def write(profile: Profile, out: BinaryIO) -> None:
    shared = _Shared(profile)
    timeline = profile.timeline or Timeline()
    begins = [start_us(profile, place) for place in range(len(profile))]
    zero_us = min([*begins, *([timeline.first_ns // 1000] if len(timeline) else [])], default=0)
    told = _events(timeline)
    threads = [_thread(profile, shared, one, zero_us, told) for one in _threads(profile, timeline)]
    value = {
        "meta": _meta(profile),
        "libs": [_library(library) for library in shared.libraries],
        "pages": [],
        "counters": [],
        "profilerOverhead": [],
        "shared": shared.tables(),
        "threads": threads,
    }
    write_json(value, out)


class _Table:
    """Rows into columns."""

    def __init__(self, *columns: str) -> None:
        self._columns: dict[str, list[Any]] = {name: [] for name in columns}
        self.length = 0

    def add(self, *row: Any) -> int:
        for column, value in zip(self._columns.values(), row):
            column.append(value)
        self.length += 1
        return self.length - 1

    def json(self) -> dict[str, Any]:
        return {"length": self.length, **self._columns}


class _Shared:
    """The tables that all threads point into."""

    def __init__(self, profile: Profile) -> None:
        self._strings: dict[str, int] = {}
        self._programs = {process.name for process in profile.processes}
        self.libraries: dict[Library, int] = {}
        self._functions: dict[Function, int] = {}
        self._sources: dict[str, int] = {}
        self._frame_table = _Table(
            *("address", "inlineDepth", "category", "subcategory", "func", "nativeSymbol"),
            *("innerWindowID", "line", "column", "originalLocation"),
        )
        self._func_table = _Table(
            *("name", "isJS", "relevantForJS", "resource", "source", "lineNumber"),
            *("columnNumber", "originalLocation"),
        )
        self._resource_table = _Table("lib", "name", "host", "type")
        self._source_table = _Table(
            "id", "filename", "startLine", "startColumn", "sourceMapURL", "content"
        )
        self._stack_table = _Table("frame", "prefixOffset")
        self._symbol_table = _Table("libIndex", "address", "name", "functionSize")
        self._symbols: dict[Function, int] = {}
        self._add_stacks(profile)

    def string(self, text: str) -> int:
        return self._strings.setdefault(text, len(self._strings))

    def _add_stacks(self, profile: Profile) -> None:
        """Node n becomes stack n - 1."""
        frames: dict[tuple[int, int, Optional[int]], int] = {}
        depths = [0]  # of inlining; 0: a call was made
        symbols: list[Optional[int]] = [None]  # of what it is all inlined into
        for node in range(1, len(profile.callers)):
            number, caller = profile.node_frames[node], profile.callers[node]
            inlined = _inlined_into(profile, node)
            depths.append(depths[caller] + 1 if inlined else 0)
            symbols.append(symbols[caller] if inlined else self._symbol(profile.frames[number]))
            key = number, depths[node], symbols[node]
            if key not in frames:
                frames[key] = self._frame(profile.frames[number], depths[node], symbols[node])
            self._stack_table.add(frames[key], node - caller if caller else 0)

    def _frame(self, frame: Frame, depth: int, symbol: Optional[int]) -> int:
        function = frame.function
        category = self._category(function)
        number = self._function(function)
        address = _from_base(function.library, frame.offset)
        return self._frame_table.add(
            address, depth, category, 0, number, symbol, None, frame.line or None, None, None
        )

    def _symbol(self, frame: Frame) -> Optional[int]:
        """The code that it is in; None: nobody knows where that begins."""
        function = frame.function
        if frame.offset == NO_OFFSET or function.offset == NO_OFFSET or not function.library:
            return None
        if function not in self._symbols:
            self._symbols[function] = self._symbol_table.add(
                self._library(function.library),
                _from_base(function.library, function.offset),
                self.string(function.name),
                function.size or None,
            )
        return self._symbols[function]

    def _category(self, function: Function) -> int:
        if function.kind in ("Jit", "Interpreted"):
            return _GENERATED
        if function.library is None:
            return _OTHER
        return _PROGRAM if function.library.name in self._programs else _LIBRARY

    def _function(self, function: Function) -> int:
        known = self._functions.get(function)
        if known is None:
            resource = self._library(function.library) if function.library else -1
            source = self._source(function.file) if function.file else None
            line = function.line or None
            name = self.string(function.name)
            known = self._func_table.add(name, False, False, resource, source, line, None, None)
            self._functions[function] = known
        return known

    def _library(self, library: Library) -> int:
        """Its number, which its resource has too."""
        known = self.libraries.get(library)
        if known is None:
            known = self.libraries[library] = len(self.libraries)
            name = self.string(library.name)
            self._resource_table.add(known, name, None, _RESOURCE_IS_LIBRARY)
        return known

    def _source(self, file: str) -> int:
        known = self._sources.get(file)
        if known is None:
            known = self._source_table.add(None, self.string(file), 1, 1, None, None)
            self._sources[file] = known
        return known

    def tables(self) -> dict[str, Any]:
        return {
            "stackTable": self._stack_table.json(),
            "frameTable": self._frame_table.json(),
            "funcTable": self._func_table.json(),
            "resourceTable": self._resource_table.json(),
            "nativeSymbols": self._symbol_table.json(),
            "sources": self._source_table.json(),
            "sourceLocationTable": _Table("source", "line", "column").json(),
            "stringArray": list(self._strings),
        }


def _from_base(library: Optional[Library], offset: int) -> int:
    base = library.code.base if library and library.code else 0
    return offset - base if offset >= base else NO_OFFSET


def _inlined_into(profile: Profile, node: int) -> bool:
    """Its frame may say so, and its caller be missing."""
    return profile.frames[profile.node_frames[node]].inlined and profile.callers[node] != 0


_Told = dict[tuple[str, int], list[Event]]


def _events(timeline: Timeline) -> _Told:
    """By process and tid, in the order of time."""
    told: _Told = {}
    for event in sorted(timeline.events(), key=lambda event: event.start_ns):
        told.setdefault((event.thread.process.id, event.thread.tid), []).append(event)
    return told


def _threads(profile: Profile, timeline: Timeline) -> list[ThreadSamples]:
    """Also those that have events alone."""
    sampled = by_thread(profile)
    known = {(one.thread.process.id, one.thread.tid) for one in sampled}
    others = [
        ThreadSamples(thread, [])
        for thread in timeline.threads
        if (thread.process.id, thread.tid) not in known
    ]
    return sorted([*sampled, *others], key=lambda one: thread_key(one.thread))


def _thread(
    profile: Profile, shared: _Shared, one: ThreadSamples, zero_us: int, told: _Told
) -> dict[str, Any]:
    thread, places = one
    times = [(profile.times_us[place] - zero_us) / 1000 for place in places]
    pid = pid_of(thread.process)
    return {
        "processType": "default",
        "processName": thread.process.name,
        "processStartupTime": 0,
        "processShutdownTime": None,
        "registerTime": 0,
        "unregisterTime": None,
        "pausedRanges": [],
        "name": thread.name or thread.process.name,
        "isMainThread": thread.tid == pid,
        "showMarkersInTimeline": True,
        "pid": str(pid),
        "tid": thread.tid,
        "samples": {
            "length": len(places),
            "stack": [profile.nodes[place] - 1 for place in places],
            "time": times,
            **_weights(profile, places),
            "threadCPUDelta": [profile.weights_us[place] for place in places],
        },
        "markers": _markers(profile, shared, one, times, told, zero_us),
    }


def _weights(profile: Profile, places: list[int]) -> dict[str, Any]:
    """Its tree adds them up."""
    if chosen(profile, AUTO) == SAMPLES:
        return {"weight": None, "weightType": "samples"}
    milliseconds = [profile.weights_us[place] / 1000 for place in places]
    return {"weight": milliseconds, "weightType": "tracing-ms"}


def _markers(
    profile: Profile,
    shared: _Shared,
    one: ThreadSamples,
    times: list[float],
    told: _Told,
    zero_us: int,
) -> dict[str, Any]:
    markers = _Table("name", "startTime", "endTime", "phase", "category", "data")
    _put_tags(markers, profile, shared, one, times)
    for event in told.get((one.thread.process.id, one.thread.tid), ()):
        _put_event(markers, shared, event, zero_us * 1000)
    return markers.json()


def _put_event(markers: _Table, shared: _Shared, event: Event, zero_ns: int) -> None:
    start: Optional[float] = (event.start_ns - zero_ns) / 1e6
    end, phase = None, _INSTANT
    if event.kind in (SLICE, FRAME) and event.mark != NO_BEGIN:
        end, phase = (event.end_ns - zero_ns) / 1e6, _INTERVAL
    elif event.kind == ASYNC_BEGIN:
        phase = _STARTS
    elif event.kind == ASYNC_END:
        start, end, phase = None, start, _ENDS
    values = ", ".join(f"{name}={value}" for name, value in event.arguments.items())
    data = {"type": "Event", "kind": KINDS[event.kind], "stream": event.stream}
    if event.id:
        data["id"] = f"{event.id:x}"
    if values:
        data["values"] = values
    if event.mark:
        data["mark"] = event.mark
    name = _NAMELESS if event.mark == NO_BEGIN else event.name
    markers.add(shared.string(name), start, end, phase, _OTHER, data)


def _put_tags(
    markers: _Table, profile: Profile, shared: _Shared, one: ThreadSamples, times: list[float]
) -> None:
    thread, places = one
    untagged = {"", "Default", thread.name, thread.process.name}  # what the service says then
    tagged = zip([profile.tags[profile.user_tags[place]] for place in places], times)
    for tag, group in groupby(tagged, key=lambda pair: pair[0]):
        span = [time for _, time in group]
        if tag not in untagged:
            data = {"type": "UserTag", "name": tag}
            markers.add(shared.string(tag), span[0], span[-1], _INTERVAL, _OTHER, data)


def _library(library: Library) -> dict[str, str]:
    path = library.path or library.uri
    return {
        "arch": "",
        "name": library.name,
        "path": path,
        "debugName": library.name,
        "debugPath": path,
        "breakpadId": _breakpad_id(library.build_id),
        "codeId": library.build_id,
    }


def _breakpad_id(build_id: str) -> str:
    """The first 16 bytes as a GUID, whose first three numbers are little-endian, and an age of 0."""
    try:
        raw = bytes.fromhex(build_id)[:16]
    except ValueError:  # a pprof file's may be any text
        raw = b""
    return uuid.UUID(bytes_le=raw.ljust(16, b"\0")).hex.upper() + "0" if raw else ""


def _meta(profile: Profile) -> dict[str, Any]:
    return {
        "interval": profile.period_us / 1000,
        "startTime": 0,
        "processType": 0,
        "product": profile.meta.get("program") or ", ".join(p.name for p in profile.processes),
        "importedFrom": "isoscope",
        "stackwalk": 1,
        "version": 24,
        "preprocessedProfileVersion": VERSION,
        "symbolicated": True,
        "categories": [
            {"name": name, "color": color, "subcategories": ["Other"]}
            for name, color in _CATEGORIES.items()
        ],
        "markerSchema": [
            {
                "name": "UserTag",
                "tooltipLabel": "{marker.data.name}",
                "chartLabel": "{marker.data.name}",
                "tableLabel": "{marker.data.name}",
                "display": ["marker-chart", "marker-table", "timeline-overview"],
                "fields": [{"key": "name", "label": "Tag", "format": "string"}],
            },
            {
                "name": "Event",
                "tooltipLabel": "{marker.name}",
                "chartLabel": "{marker.name}",
                "tableLabel": "{marker.data.values}",
                "display": ["marker-chart", "marker-table", "timeline-overview"],
                "fields": [
                    {"key": "kind", "label": "Kind", "format": "string"},
                    {"key": "stream", "label": "Stream", "format": "string"},
                    {"key": "values", "label": "Arguments", "format": "string"},
                    {"key": "id", "label": "Id", "format": "string"},
                    {"key": "mark", "label": "Mark", "format": "string"},
                ],
            },
        ],
        "sampleUnits": {"time": "ms", "eventDelay": "ms", "threadCPUDelta": "µs"},
        "usesOnlyOneStackType": True,
        "sourceCodeIsNotOnSearchfox": True,
        "pausedRanges": [],
        "extensions": {"length": 0, "baseURL": [], "id": [], "name": []},
    }
