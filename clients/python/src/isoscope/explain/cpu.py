"""Findings of CPU time: functions that have much of it themselves, and the allocator's."""

from __future__ import annotations

from collections import Counter, defaultdict
from functools import cached_property
from typing import Iterator, Optional

from .. import filters
from ..profile import CPU as CPU_WEIGHT
from ..profile import SAMPLES, Profile
from ..text import size
from ..trees import HotSpot, hot_spots
from ..trees.runtime_frames import ALL, MINE, is_of_runtime
from . import commands
from .chance import Share, effective, share
from .facts import Facts
from .finding import ALLOCATION, CPU, SAMPLES_LEAST, Finding, percent
from .known_calls import FILE, LOCK, MEMORY, READ, REST, call_of, in_memory
from .places import Place, Seen, is_unnamed, places_of, way
from .words import Name, Sentence, joined

HOT_LEAST, CHURN_LEAST = 0.30, 0.15  # of the CPU time
BUSY_LEAST = 0.10  # of one processor, had or asked for: of less CPU time no share is worth a finding
_HOT_MAX = 3
_SHOWN_LEAST = 0.01
_NAMED = 3  # places that one finding names
_WAITS = (LOCK, REST, READ, FILE)


class CpuTime:
    """The samples in which it was used, and what they say together."""

    def __init__(self, facts: Facts) -> None:
        self.profile = facts.running
        self.calls = facts.calls  # its nodes are those of all samples
        self.by_count = facts.has_waits or self.profile.weight == SAMPLES
        weights = self.profile.weights_us
        self.total = len(self.profile) if self.by_count else sum(weights)
        # As many looks of equal worth would say as much.
        self.samples = effective(looks(self.profile) if facts.has_waits else weights if any(weights) else [1] * len(weights))
        self.busy, self.wanted = facts.busy, facts.wanted
        self.wall = facts.has_waits

    @property
    def is_enough(self) -> bool:
        return self.samples >= SAMPLES_LEAST and self.matters

    @property
    def matters(self) -> bool:
        """On a machine that is busy a program may have little of it, and ask for all that there is."""
        return self.wanted is None or self.wanted >= BUSY_LEAST

    def share(self, part: float) -> Share:
        return share(part, self.total, self.samples)

    def rank(self, part: Share) -> float:
        return part.value * min(1.0, 1.0 if self.busy is None else self.busy)

    @cached_property
    def of_runtime(self) -> bool:
        """A runtime runs the program, or a part of it."""
        return any(frame.function.runtime or is_of_runtime(frame.function) for frame in self.profile.frames)

    @cached_property
    def spots(self) -> list[HotSpot]:
        """Functions as the compiler made them, inlined ones in their callers. Where a runtime runs the program, the
        functions that it runs, with all that these have it do. Without the allocator's, which are a finding of
        their own."""
        hidden = set(self.between_looks)
        shown = self.profile.choose([at for at in range(len(self.profile)) if at not in hidden])
        view = filters.by_stack(shown, inline=False, frames=MINE if self.of_runtime else ALL)
        by = SAMPLES if self.by_count else CPU_WEIGHT
        spots = hot_spots(view, threshold=_SHOWN_LEAST, weight=by).spots if len(view) else []
        return [spot for spot in spots if call_of(spot.row.function) != MEMORY]

    @cached_property
    def between_looks(self) -> list[int]:
        """Samples of wall mode that say how long a thread ran, and not where: they stand where it slept."""
        if not self.wall:
            return []
        columns = enumerate(zip(self.profile.nodes, self.profile.weights_us))
        return [at for at, (node, us) in columns if us == 0 and self.calls[node] in _WAITS]

    @cached_property
    def in_memory(self) -> Counter[int]:
        """The weight of samples in the allocator, by node."""
        inside = in_memory(self.profile, self.calls)
        nodes: Counter[int] = Counter()
        for node, us in zip(self.profile.nodes, self.profile.weights_us):
            if inside[node]:
                nodes[node] += 1 if self.by_count else us
        return nodes

    @property
    def memory(self) -> Share:
        return self.share(sum(self.in_memory.values()))


def looks(profile: Profile) -> list[int]:
    """Of each look of wall mode for how many samples it stands: a late one is told once for each round that it is late,
    at the same place, a period apart to the microsecond."""
    counts: list[int] = []
    last: dict[int, tuple[int, int, int, int]] = {}  # of a thread: time, node, weight, its look
    columns = zip(profile.times_us, profile.sample_threads, profile.nodes, profile.weights_us)
    for time_us, thread, node, weight_us in sorted(columns):
        before = last.get(thread)
        same = before is not None and before[1] == node and time_us - before[0] == profile.period_us
        if before is None or not same or abs(weight_us - before[2]) > 1:
            counts.append(0)
            number = len(counts) - 1
        else:
            number = before[3]
        counts[number] += 1
        last[thread] = time_us, node, weight_us, number
    return counts


def hot(cpu: CpuTime) -> Iterator[Finding]:
    if not cpu.is_enough:
        return
    for spot in cpu.spots[:_HOT_MAX]:
        part = cpu.share(spot.row.self_weight)
        if part.least >= HOT_LEAST:
            yield _hot(cpu, spot, part)
    yield from _nameless(cpu)


def _hot(cpu: CpuTime, spot: HotSpot, part: Share) -> Finding:
    row, function = spot.row, spot.row.function
    lines = [one for one in spot.lines if one.line]
    place = Place(function.name, row.library, function.file, lines[0].line if lines else function.line)
    evidence: list[Sentence] = []
    if lines and function.file:
        of_it = [(one.self_us if row.by_time else one.self_count) / (row.self_weight or 1) for one in lines]
        named = [(f"{percent(of)} of that at ", Name(f"{function.file}:{one.line}")) for of, one in zip(of_it, lines)]
        evidence.append(joined(", ", named[:_NAMED]))
    callers = (row.callers_us if row.by_time else row.callers).most_common(1)
    if callers:
        evidence.append(("called by ", Name(callers[0][0].label)))
    return Finding(
        CPU,
        ("CPU time: ", Name(function.name)),
        part,
        "of the CPU time is spent in the function itself, with what is inlined into it",
        place,
        way(node.name for node in spot.path[1:]),
        tuple(evidence),
        _cause(cpu, call_of(function)),
        _next(place, is_unnamed(function), call_of(function)),
        commands.function(function.name, wall=cpu.wall and any(cpu.profile.weights_us), mine=cpu.of_runtime),
        cpu.rank(part),
    )


def _nameless(cpu: CpuTime) -> Iterator[Finding]:
    """Where not even the begin of functions is known each address is one, and none of them is hot."""
    profile = cpu.profile
    nodes: dict[str, Counter[int]] = defaultdict(Counter)  # by library
    for node, us in zip(profile.nodes, profile.weights_us):
        function = profile.frames[profile.node_frames[node]].function
        if function.kind == "Unnamed":
            nodes[function.library.name if function.library else ""][node] += 1 if cpu.by_count else us
    for library, counts in nodes.items():
        part = cpu.share(sum(counts.values()))
        addresses: Counter[str] = Counter()
        for node, count in counts.items():
            addresses[profile.frames[profile.node_frames[node]].function.name] += count
        (hottest, most), *_ = addresses.most_common(1)
        if part.least < HOT_LEAST or cpu.share(most).least >= HOT_LEAST:
            continue
        place = Place(hottest, library)
        stack = profile.stack(counts.most_common(1)[0][0])
        yield Finding(
            CPU,
            ("CPU time: functions without a name in ", Name(library or "generated code")),
            part,
            "of the CPU time is spent in them",
            place,
            way(frame.function.name for frame in reversed(stack)),
            ((f"of {len(addresses):,} addresses the hottest is ", Name(hottest),
              f" ({percent(cpu.share(most).value)})"),),
            _cause(cpu, ""),
            _next(place, True, ""),
            commands.function(hottest, wall=cpu.wall and any(profile.weights_us)),
            cpu.rank(part),
        )  # fmt: skip


def _cause(cpu: CpuTime, call: str) -> Sentence:
    used = "" if cpu.busy is None else f"; the program used {percent(cpu.busy)} of one processor"
    what = {
        LOCK: "it takes a lock again and again, or spins for it",
        READ: "the kernel works for many reads",
        FILE: "the kernel works for many calls",
        REST: "the program is woken very often",
    }
    return (f"{what.get(call, 'it computes')}{used}",)


def _next(place: Place, unnamed: bool, call: str) -> Sentence:
    if unnamed:
        return ("give ", Name(place.library or place.function), " its symbols (a debug package, or `isoscope run "
                "--debuginfod`), then look again")  # fmt: skip
    if call in (READ, FILE):
        return ("make fewer and larger calls: a buffer, or several requests in one",)
    if call in _WAITS:
        return ("wake up, or lock, for more work at a time",)
    return ("look at these lines: can ", Name(place.function), " run less often, or do less each time?")


# Allocations.


def churn(cpu: CpuTime, facts: Facts) -> Iterator[Finding]:
    if not cpu.is_enough:
        return
    part = cpu.memory
    if part.least < CHURN_LEAST:
        return
    seen = places_of(cpu.profile, cpu.in_memory)
    named = [(*one.place.where, f" ({percent(cpu.share(one.samples).value)})") for one in seen[:_NAMED]]
    evidence: list[Sentence] = [("called by ", *joined(", ", named))]
    sites = allocation_sites(facts)
    if sites:
        evidence.append(sites)
    yield Finding(
        ALLOCATION,
        ("allocations: ", Name(seen[0].place.function)),
        part,
        "of the CPU time is spent in the allocator",
        seen[0].place,
        seen[0].path,
        tuple(evidence),
        ("memory is allocated and freed all the time",),
        ("keep what ", Name(seen[0].place.function), " allocates, and use it again; or take it from a pool",
         *(() if sites else ("; `isoscope run --alloc` shows how many bytes each place allocates",))),
        commands.allocations() if sites else commands.function(seen[0].place.function, wall=False),
        cpu.rank(part),
    )  # fmt: skip


def allocated_bytes(facts: Facts) -> Optional[int]:
    """None: allocations were not sampled."""
    profile = facts.allocations
    return None if profile is None else sum(profile.weights_us)


def allocation_sites(facts: Facts) -> Sentence:
    """The places that allocate most; (): not known."""
    profile = facts.allocations
    if profile is None or not len(profile):
        return ()
    nodes: Counter[int] = Counter()
    for node, size_bytes in zip(profile.nodes, profile.weights_us):
        nodes[node] += size_bytes
    total, samples = sum(nodes.values()), effective(profile.weights_us)
    seen: list[Seen] = places_of(profile, nodes)[:_NAMED]
    places = []
    for one in seen:
        part = share(one.samples, total, samples)
        places.append((*one.place.where, f" ({percent(part.value)} ± {100 * part.error:.1f})"))
    return (f"of {size(total)} allocated: ", *joined(", ", places))
