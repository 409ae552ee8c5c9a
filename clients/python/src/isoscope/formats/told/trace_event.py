"""Chrome's Trace Event format, of what the program told: slices, instants, counters, flows, frames.

A slice is an X event with its duration, one that has not ended as long as it has lasted; times are
microseconds with their nanoseconds behind the point. Samples are not in it: readers do not agree on
how they would be written. Lost: samples, nesting of slices that share both ends.
"""

from __future__ import annotations

from typing import Any, BinaryIO, Iterator

from ...profile import Profile, Thread
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
    SLICE,
    Event,
    Timeline,
)
from ..common import pid_of, thread_key, write_json

_PHASES = {
    SLICE: "X", ASYNC_BEGIN: "b", ASYNC_INSTANT: "n", ASYNC_END: "e", FLOW_BEGIN: "s",
    FLOW_STEP: "t", FLOW_END: "f", COUNTER: "C",
}  # fmt: skip


def write(profile: Profile, out: BinaryIO) -> None:
    timeline = profile.timeline or Timeline()
    order = sorted(range(len(timeline)), key=lambda place: (timeline.starts_ns[place], -timeline.durations_ns[place]))
    events = [*_names(timeline.threads)]
    for place in order:
        events += _of(timeline.event(place))
    write_json({"traceEvents": events, "displayTimeUnit": "ms"}, out)


def _names(threads: list[Thread]) -> Iterator[dict[str, Any]]:
    for process in dict.fromkeys(thread.process for thread in sorted(threads, key=thread_key)):
        pid = pid_of(process)
        yield {"name": "process_name", "ph": "M", "pid": pid, "tid": pid, "args": {"name": process.name}}
    for thread in sorted(threads, key=thread_key):
        name = thread.name or thread.process.name
        pid = pid_of(thread.process)
        yield {"name": "thread_name", "ph": "M", "pid": pid, "tid": thread.tid, "args": {"name": name}}


def _of(event: Event) -> Iterator[dict[str, Any]]:
    begin = _base(event, event.start_ns)
    if event.kind == FRAME:  # frames may overlap slices of their thread, and each other
        yield {**begin, "ph": "b", "id": f"{event.id:x}", "args": dict(event.arguments)}
        yield {**_base(event, event.end_ns), "ph": "e", "id": f"{event.id:x}"}
        return
    phase = "i" if event.mark == NO_BEGIN else _PHASES.get(event.kind, "i")
    begin["ph"] = phase
    if phase == "X":
        begin["dur"] = event.duration_ns / 1000
    if phase == "i":
        begin["s"] = "t"
    if phase in "stf":
        begin["bp"] = "e"
    if phase in "bnestf":
        begin["id"] = f"{event.id:x}"
    args = {**event.arguments, **({"_mark": event.mark} if event.mark else {})}
    yield {**begin, "args": args} if args else begin  # speedscope makes a name's part of any


def _base(event: Event, at_ns: int) -> dict[str, Any]:
    name = "(end without a begin)" if event.mark == NO_BEGIN else event.name
    return {
        "name": name, "cat": event.stream, "pid": pid_of(event.thread.process),
        "tid": event.thread.tid, "ts": at_ns / 1000,
    }  # fmt: skip
