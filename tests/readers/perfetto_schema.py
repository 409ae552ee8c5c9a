"""A Perfetto trace as Perfetto's own schema reads it: the messages that its Python package was generated from.

Its trace_processor is a download of its own, from an address that not everybody reaches; the schema is in the package.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path
from typing import Any, Iterator

BEGIN, END = 1, 2  # TrackEvent.Type


def read(packages: Path, trace: Path) -> Any:
    """packages: where `perfetto` and `protobuf` of PyPI lie."""
    if str(packages) not in sys.path:
        sys.path.insert(0, str(packages))
    from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace

    return Trace.FromString(trace.read_bytes())


def unknown(message: Any, path: str = "Trace") -> Iterator[str]:
    """Fields that the schema does not have."""
    from google.protobuf.unknown_fields import UnknownFieldSet

    yield from (f"{path}.{field.field_number}" for field in UnknownFieldSet(message))
    for field, value in message.ListFields():
        if field.type == field.TYPE_MESSAGE:
            for one in value if field.is_repeated else [value]:
                yield from unknown(one, f"{path}.{field.name}")


def slices(trace: Any) -> dict[str, tuple[int, float]]:
    """Name -> how many, and their microseconds. An end closes what was begun last on its track."""
    names: dict[int, str] = {}
    open_on: dict[int, list[tuple[str, int]]] = defaultdict(list)
    sums: dict[str, tuple[int, float]] = defaultdict(lambda: (0, 0.0))
    tracks = {packet.track_descriptor.uuid for packet in trace.packet if packet.HasField("track_descriptor")}
    for packet in trace.packet:
        names |= {entry.iid: entry.name for entry in packet.interned_data.event_names}
        event = packet.track_event
        if not packet.HasField("track_event"):
            continue
        assert event.track_uuid in tracks, f"no track {event.track_uuid}"
        if event.type == BEGIN:
            open_on[event.track_uuid].append((event.name or names[event.name_iid], packet.timestamp))
        if event.type == END:
            name, began = open_on[event.track_uuid].pop()
            count, us = sums[name]
            sums[name] = count + 1, us + (packet.timestamp - began) / 1000
    assert not any(open_on.values()), "a slice is left open"
    return dict(sums)


def samples(trace: Any) -> int:
    """Those whose stack is there, frame by frame, with names."""
    stacks, frames, functions = {}, {}, set()
    count = 0
    for packet in trace.packet:
        data = packet.interned_data
        functions |= {entry.iid for entry in data.function_names}
        frames |= {entry.iid: entry.function_name_id for entry in data.frames}
        stacks |= {entry.iid: list(entry.frame_ids) for entry in data.callstacks}
        if packet.HasField("perf_sample"):
            count += all(frames[frame] in functions for frame in stacks[packet.perf_sample.callstack_iid])
    return count
