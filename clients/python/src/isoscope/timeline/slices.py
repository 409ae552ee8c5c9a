"""Slices by name: how often, how long, and which was the longest.

    slice_table(timeline) -> [SliceRow], the longest total first

Self time is what no slice of the same thread inside it took. A slice that stands open counts as
long as it has lasted. Percentiles are durations that occurred: the smallest that at least that
share of the slices does not exceed.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from dataclasses import dataclass, field

from . import CUT_OFF, OPEN, Timeline


@dataclass
class SliceRow:
    name: str
    stream: str
    durations_ns: array[int] = field(default_factory=lambda: array("q"))  # sorted
    self_ns: int = 0
    open: int = 0  # that have not ended
    cut_off: int = 0  # whose thread or process ended in them
    longest: int = -1  # its place

    @property
    def count(self) -> int:
        return len(self.durations_ns)

    @property
    def total_ns(self) -> int:
        return sum(self.durations_ns)

    @property
    def max_ns(self) -> int:
        return self.durations_ns[-1]

    def percentile_ns(self, percent: float) -> int:
        rank = -(-len(self.durations_ns) * percent // 100)  # rounded up
        return self.durations_ns[max(int(rank), 1) - 1]


def slice_table(timeline: Timeline) -> list[SliceRow]:
    rows: dict[tuple[int, int], SliceRow] = {}
    durations = timeline.durations_ns
    own = self_times(timeline)
    for place in timeline.slices():
        key = timeline.names[place], timeline.streams[place]
        row = rows.get(key)
        if row is None:
            row = rows[key] = SliceRow(timeline.texts[key[0]], timeline.texts[key[1]])
        row.durations_ns.append(durations[place])
        row.self_ns += own[place]
        if row.longest < 0 or durations[place] > durations[row.longest]:
            row.longest = place
        mark = timeline.marks.get(place)
        row.open += mark == OPEN
        row.cut_off += mark == CUT_OFF
    for row in rows.values():
        row.durations_ns = array("q", sorted(row.durations_ns))
    return sorted(rows.values(), key=lambda row: (-row.total_ns, row.name, row.stream))


def self_times(timeline: Timeline) -> dict[int, int]:
    """By place. What a slice has in common with the one around it is not that one's own; of two
    that cross, neither is inside the other."""
    starts, durations = timeline.starts_ns, timeline.durations_ns
    threads: defaultdict[int, list[int]] = defaultdict(list)
    for place in timeline.slices():
        threads[timeline.event_threads[place]].append(place)
    own: dict[int, int] = {}
    for places in threads.values():
        places.sort(key=lambda place: (starts[place], -durations[place], timeline.depths[place]))
        around: list[int] = []
        for place in places:
            own[place] = durations[place]
            end = starts[place] + durations[place]
            while around and starts[around[-1]] + durations[around[-1]] <= starts[place]:
                around.pop()
            if around and starts[around[-1]] + durations[around[-1]] >= end:
                own[around[-1]] -= durations[place]
                around.append(place)
            elif not around:
                around.append(place)
    return own


def longest(timeline: Timeline, count: int) -> list[int]:
    """Places of the longest slices, the longest first."""
    order = sorted(
        timeline.slices(),
        key=lambda place: (-timeline.durations_ns[place], timeline.starts_ns[place]),
    )
    return order[:count]
