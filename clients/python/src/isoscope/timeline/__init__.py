"""What programs told: slices, instants, counters, flows and frames, as columns.

    _TimelineTable (reply) -> Timeline.add_reply \\
    a session file's reader -> Timeline.add       > Timeline -> slices.py, formats

A slice is one entry, with start and duration; entries stand in the order in which they were
complete, and slices that have not ended at the end.

Units      *_ns: nanoseconds of the program's monotonic clock, which is the samples'.
Errors     ProtocolError where a reply lacks what is needed or has columns of different lengths.
"""

from __future__ import annotations

from array import array
from typing import Any, Collection, Iterable, Iterator, Mapping, NamedTuple, Optional, Union

from ..errors import ProtocolError
from ..model import Process
from ..profile import Thread

KINDS = (
    *("Slice", "Instant", "AsyncBegin", "AsyncInstant", "AsyncEnd"),
    *("FlowBegin", "FlowStep", "FlowEnd", "Counter", "Frame"),
)
(SLICE, INSTANT, ASYNC_BEGIN, ASYNC_INSTANT, ASYNC_END, FLOW_BEGIN, FLOW_STEP, FLOW_END, COUNTER, FRAME) = (
    range(len(KINDS))
)
OPEN, CUT_OFF, NO_BEGIN = MARKS = ("Open", "CutOff", "NoBegin")

Value = Union[int, float, str]
_COLUMNS = ("kinds", "threads", "names", "streams", "startDeltas", "durations", "depths")


class Event(NamedTuple):
    """One entry."""

    kind: int  # SLICE, ...
    thread: Thread
    name: str
    stream: str  # its category
    start_ns: int
    duration_ns: int  # slices and frames; else 0
    depth: int
    mark: str  # "", or why a slice is not what a pair of begin and end makes
    id: int  # async and flow events; of a frame its number; else 0
    arguments: Mapping[str, Value]

    @property
    def end_ns(self) -> int:
        return self.start_ns + self.duration_ns


class Timeline:
    """Entry i of each column belongs to event i."""

    def __init__(self) -> None:
        self.threads: list[Thread] = []
        self.texts: list[str] = []
        self.kinds = array("B")
        self.event_threads = array("I")
        self.names = array("I")  # numbers of texts
        self.streams = array("I")
        self.starts_ns = array("q")
        self.durations_ns = array("q")
        self.depths = array("I")
        self.marks: dict[int, str] = {}
        self.ids: dict[int, int] = {}
        self.arguments: dict[int, dict[str, Value]] = {}
        self.history: dict[str, int] = {}  # what the service keeps, and what is missing of it
        self._texts: dict[str, int] = {}
        self._threads: dict[tuple[str, int], int] = {}

    def __len__(self) -> int:
        return len(self.kinds)

    def text(self, text: str) -> int:
        number = self._texts.setdefault(text, len(self.texts))
        if number == len(self.texts):
            self.texts.append(text)
        return number

    def thread(self, process: Process, tid: int, name: str = "") -> int:
        """A name that came late replaces the one before."""
        number = self._threads.setdefault((process.id, tid), len(self.threads))
        if number == len(self.threads):
            self.threads.append(Thread(process, tid, name))
        elif name and self.threads[number].name != name:
            self.threads[number] = Thread(self.threads[number].process, tid, name)
        return number

    def add(self, event: Event) -> None:
        place = len(self)
        self.kinds.append(event.kind)
        self.event_threads.append(self.thread(event.thread.process, event.thread.tid, event.thread.name))
        self.names.append(self.text(event.name))
        self.streams.append(self.text(event.stream))
        self.starts_ns.append(event.start_ns)
        self.durations_ns.append(event.duration_ns)
        self.depths.append(event.depth)
        if event.mark:
            self.marks[place] = event.mark
        if event.id:
            self.ids[place] = event.id
        if event.arguments:
            self.arguments[place] = dict(event.arguments)

    def event(self, place: int) -> Event:
        return Event(
            self.kinds[place],
            self.threads[self.event_threads[place]],
            self.texts[self.names[place]],
            self.texts[self.streams[place]],
            self.starts_ns[place],
            self.durations_ns[place],
            self.depths[place],
            self.marks.get(place, ""),
            self.ids.get(place, 0),
            self.arguments.get(place, {}),
        )

    def events(self) -> Iterator[Event]:
        return map(self.event, range(len(self)))

    def slices(self) -> Iterator[int]:
        """Places of those with a begin."""
        marks = self.marks
        for place, kind in enumerate(self.kinds):
            if kind == SLICE and marks.get(place) != NO_BEGIN:
                yield place

    @property
    def first_ns(self) -> int:
        return min(self.starts_ns, default=0)

    @property
    def last_ns(self) -> int:
        ends = (start + duration for start, duration in zip(self.starts_ns, self.durations_ns))
        return max(ends, default=0)

    # Parts.

    def choose(self, places: Iterable[int]) -> Timeline:
        chosen = Timeline()
        chosen.history = dict(self.history)
        for place in places:
            chosen.add(self.event(place))
        return chosen

    def of_processes(self, ids: Collection[str]) -> Timeline:
        return self._of({n for n, thread in enumerate(self.threads) if thread.process.id in ids})

    def of_threads(self, wanted: str) -> Timeline:
        """wanted: a thread's name or its tid."""
        return self._of({n for n, one in enumerate(self.threads) if wanted in (one.name, str(one.tid))})

    def _of(self, threads: Collection[int]) -> Timeline:
        return self.choose(p for p, number in enumerate(self.event_threads) if number in threads)

    def window(self, first_ns: Optional[int] = None, last_ns: Optional[int] = None) -> Timeline:
        """What overlaps it; both ends belong to it."""
        ends = zip(self.starts_ns, self.durations_ns)
        return self.choose(
            place
            for place, (start, duration) in enumerate(ends)
            if (first_ns is None or start + duration >= first_ns)
            and (last_ns is None or start <= last_ns)
        )

    # Replies.

    def add_reply(self, reply: Mapping[str, Any], processes: Iterable[Process], open: bool) -> int:
        """A _TimelineTable. open: with what has not ended. Returns the events that came, without
        those."""
        reader = _Reader(self, reply, processes)
        before = len(self)
        try:
            self.history = dict(reply["history"])
            for block in reply["blocks"]:
                reader.block(block)
            count = len(self) - before
            for block in reply["open"] if open else ():
                reader.block(block)
        except (KeyError, IndexError, TypeError, ValueError, OverflowError) as error:
            raise ProtocolError(f"_getTimeline: the reply lacks or breaks {error}") from error
        return count


class _Reader:
    """Numbers of one reply as those of the timeline."""

    def __init__(
        self, timeline: Timeline, reply: Mapping[str, Any], processes: Iterable[Process]
    ) -> None:
        self._timeline = timeline
        self._kinds = [KINDS.index(word) for word in reply["kinds"]]
        self._processes = {process.id: process for process in processes}
        self._texts: list[int] = []
        self._threads: list[int] = []

    def block(self, block: Mapping[str, Any]) -> None:
        to = self._timeline
        self._texts += [to.text(text) for text in block["texts"]]
        self._threads += [self._thread(thread) for thread in block["newThreads"]]
        base, count = len(to), len(block["kinds"])
        for column in _COLUMNS:
            if len(block[column]) != count:
                raise ValueError(f"{column}: {len(block[column])} entries instead of {count}")
        to.kinds.extend([self._kinds[kind] for kind in block["kinds"]])
        to.event_threads.extend([self._threads[number] for number in block["threads"]])
        to.names.extend([self._texts[number] for number in block["names"]])
        to.streams.extend([self._texts[number] for number in block["streams"]])
        to.durations_ns.extend(block["durations"])
        to.depths.extend(block["depths"])
        at_ns = int(block["timeOriginMicros"]) * 1000
        for delta in block["startDeltas"]:
            at_ns += delta
            to.starts_ns.append(at_ns)
        self._sparse(block, base)

    def _sparse(self, block: Mapping[str, Any], base: int) -> None:
        to = self._timeline
        to.marks.update({base + at: mark for at, mark in zip(block["marked"], block["marks"])})
        to.ids.update({base + at: int(id, 16) for at, id in zip(block["identified"], block["ids"])})
        values = zip(block["argumentEvents"], block["argumentNames"], block["argumentValues"])
        for at, name, value in values:
            to.arguments.setdefault(base + at, {})[to.texts[self._texts[name]]] = value

    def _thread(self, thread: Mapping[str, Any]) -> int:
        id, pid = str(thread["isolateId"]), int(thread["pid"])
        process = self._processes.setdefault(id, Process(id, str(pid), pid))
        if process.pid is None:
            process = self._processes[id] = Process(id, process.name, pid)
        return self._timeline.thread(process, int(thread["tid"]), str(thread["name"]))
