"""A timeline whose figures are known, and a reply that tells it.

    thread "main":    load [0, 100) us in stream Dart, with parse [10, 30) and parse [40, 50) in it
                      read [90, 120), told at once: it crosses load
                      an instant, a counter of two series, an async request, a flow, two frames
    thread "other":   wait [200, ...: it has not ended; an end without a begin
"""

from __future__ import annotations

from typing import Any

from isoscope import Event, Process, Thread, Timeline
from isoscope.timeline import (
    ASYNC_BEGIN,
    ASYNC_END,
    COUNTER,
    FLOW_BEGIN,
    FLOW_END,
    FRAME,
    INSTANT,
    KINDS,
    NO_BEGIN,
    OPEN,
    SLICE,
)

BASE_NS = 5_000_000_000
PROCESS = Process("isolates/4242", "game", 4242)
MAIN, OTHER = Thread(PROCESS, 4242, "main"), Thread(PROCESS, 4243, "other")
TOTALS_NS = {"load": 100_000, "read": 30_000, "parse": 30_000, "wait": 50_000}


def _event(kind: int, name: str, at_us: float, us: float = 0, **more: Any) -> Event:
    told = {"thread": MAIN, "stream": "Dart", "depth": 0, "mark": "", "id": 0, "arguments": {}, **more}
    return Event(kind, told["thread"], name, told["stream"], BASE_NS + round(at_us * 1000),
                 round(us * 1000), told["depth"], told["mark"], told["id"], told["arguments"])  # fmt: skip


EVENTS = [
    _event(SLICE, "parse", 10, 20, depth=1, arguments={"file": 'a"b', "size": -3}),
    _event(SLICE, "parse", 40, 10, depth=1),
    _event(SLICE, "load", 0, 100),
    _event(SLICE, "read", 90, 30, stream="io"),
    _event(INSTANT, "ready", 121.5),
    _event(COUNTER, "heap", 122, arguments={"used": 7, "share": 0.25}),
    _event(ASYNC_BEGIN, "request", 123, id=0xFFFFFFFFFFFFFFFF),
    _event(ASYNC_END, "request", 150, id=0xFFFFFFFFFFFFFFFF, thread=OTHER),
    _event(FLOW_BEGIN, "job", 60, id=9),
    _event(FLOW_END, "job", 210, id=9, thread=OTHER),
    _event(FRAME, "Frame", 0, 16_000, id=1, stream="Embedder"),
    _event(FRAME, "Frame", 16_000, 40_000, id=2, stream="Embedder",
           arguments={"build": 30_000, "raster": 9_000, "vsyncOverhead": 4}),
    _event(SLICE, "", 205, thread=OTHER, mark=NO_BEGIN),
    _event(SLICE, "wait", 200, 50, thread=OTHER, mark=OPEN),
]  # fmt: skip


def timeline() -> Timeline:
    made = Timeline()
    for event in EVENTS:
        made.add(event)
    made.history = history(len(EVENTS))
    return made


def history(events: int) -> dict[str, int]:
    zero = dict.fromkeys(
        ("evicted", "lost", "unstored", "unmatched", "cutOff", "tooDeep", "backward"), 0
    )
    return {"bytes": 4096, "bytesMax": 1 << 26, "events": events, **zero}


def reply(first: int = 0, count: int = 0) -> dict[str, Any]:
    """As _getTimeline would tell them, from the event first on."""
    whole = [event for event in EVENTS if event.mark != OPEN]
    told = whole[first : first + count] if count else whole[first:]
    numbers = _Numbers()
    more = {"more": True} if first + len(told) < len(whole) else {}
    return {
        "type": "_TimelineTable",
        "kinds": list(KINDS),
        "history": history(len(whole)),
        "next": f"1.{first + len(told)}.0",
        "blocks": [numbers.block(told)] if told else [],
        "open": [numbers.block([event for event in EVENTS if event.mark == OPEN])],
        "eventCount": len(told),
        "openCount": 1,
        **more,
    }


class _Numbers:
    def __init__(self) -> None:
        self._texts: dict[str, int] = {}
        self._threads: dict[int, int] = {}

    def block(self, events: list[Event]) -> dict[str, Any]:
        texts, threads = len(self._texts), len(self._threads)
        names = [self._text(event.name) for event in events]
        streams = [self._text(event.stream) for event in events]
        numbers = [self._threads.setdefault(event.thread.tid, len(self._threads)) for event in events]
        origin_us = events[0].start_ns // 1000
        starts = [origin_us * 1000, *(event.start_ns for event in events)]
        arguments = [(at, self._text(name), value)
                     for at, event in enumerate(events) for name, value in event.arguments.items()]  # fmt: skip
        known = {thread.tid: thread for thread in (MAIN, OTHER)}
        return {
            "timeOriginMicros": origin_us,
            "texts": list(self._texts)[texts:],
            "newThreads": [
                {"isolateId": PROCESS.id, "pid": 4242, "tid": tid, "name": known[tid].name}
                for tid in list(self._threads)[threads:]
            ],
            "kinds": [event.kind for event in events],
            "threads": numbers,
            "names": names,
            "streams": streams,
            "startDeltas": [after - before for before, after in zip(starts, starts[1:])],
            "durations": [event.duration_ns for event in events],
            "depths": [event.depth for event in events],
            "marked": [at for at, event in enumerate(events) if event.mark],
            "marks": [event.mark for event in events if event.mark],
            "identified": [at for at, event in enumerate(events) if event.id],
            "ids": [f"{event.id:x}" for event in events if event.id],
            "argumentEvents": [at for at, _, _ in arguments],
            "argumentNames": [name for _, name, _ in arguments],
            "argumentValues": [value for _, _, value in arguments],
        }

    def _text(self, text: str) -> int:
        return self._texts.setdefault(text, len(self._texts))
