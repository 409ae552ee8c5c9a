"""Who waits for which lock, and for whom: samples of waits by what was waited for.

    Profile of kind "lock" or "wait" \\
    Profile of kind "time"           -> locks_of -> Lock, the most waited for first

A holder's thread was noted when the wait began. What it did meanwhile is what samples of time saw it do
from then on until the wait's end, or until it began to wait for the lock itself: of a thread that slept, in
wall mode only. Of a lock that processes share it may be another process's thread: a number of a thread is of one
in all of the machine.

Units      *_us: microseconds.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from dataclasses import dataclass, field
from typing import Optional

from ..model import Function
from ..profile import Profile

LOOSE = "[lock]"  # the library of locks that are in no module
_LOOKS = 100  # samples of a holder that are looked at for one wait


@dataclass
class Holder:
    """A thread that had the lock when others began to wait for it."""

    tid: int
    name: str = ""  # "": not known
    waited_us: int = 0  # for it
    doing: Counter[int] = field(default_factory=Counter)  # node of the profile of time -> microseconds


@dataclass
class Lock:
    name: str
    library: str
    waited_us: int = 0
    waits: float = 0.0
    longest_us: int = 0  # of the sampled ones
    samples: int = 0
    what: Counter[str] = field(default_factory=Counter)  # "mutex", "read", ... -> microseconds
    waiters: Counter[int] = field(default_factory=Counter)  # node of who waits -> microseconds
    holders: dict[int, Holder] = field(default_factory=dict)  # by tid; 0: it is not known

    def holders_by_time(self) -> list[Holder]:
        return sorted(self.holders.values(), key=lambda holder: -holder.waited_us)


def locks_of(waits: Profile, time: Optional[Profile] = None) -> list[Lock]:
    """time: of the same processes; None: what holders did is not known."""
    found: dict[object, Lock] = {}
    seen = _Seen(time) if time is not None else None
    begins = _begins(waits)
    for place, node in enumerate(waits.nodes):
        function = waits.frames[waits.node_frames[node]].function
        process = waits.threads[waits.sample_threads[place]].process
        key = _whose(process.id, function), function
        lock = found.get(key)
        if lock is None:
            library = function.library.name if function.library else ""
            lock = found[key] = Lock(function.name, library)
        waited_us = _add(lock, waits, place)
        holder = _holder(lock, waits, place, seen)
        if seen is not None and holder.tid:
            first_us = waits.times_us[place] - waited_us
            own = begins.get((_whose(process.id, function), holder.tid, function), [])
            after = bisect_right(own, first_us)
            last_us = min(waits.times_us[place], own[after] if after < len(own) else waits.times_us[place])
            seen.look((process.id, holder.tid), first_us, last_us, waits.weights_us[place], holder)
    return sorted(found.values(), key=lambda lock: -lock.waited_us)


def _whose(process: str, lock: Function) -> str:
    """In memory that processes share it is nobody's own: the service names it by that memory, alike for all."""
    library = lock.library.name if lock.library else ""
    return "" if library == LOOSE and lock.name.startswith("shared ") else process


def _waited_us(waits: Profile, place: int) -> int:
    """How long the sampled one took."""
    weight_us, count = waits.weights_us[place], waits.objects[place]
    return round(weight_us / count) if count else weight_us


def _begins(waits: Profile) -> dict[tuple[str, int, Function], list[int]]:
    """When threads began to wait for a lock: who does has it no longer."""
    found: dict[tuple[str, int, Function], list[int]] = {}
    for place, node in enumerate(waits.nodes):
        thread = waits.threads[waits.sample_threads[place]]
        function = waits.frames[waits.node_frames[node]].function
        key = _whose(thread.process.id, function), thread.tid, function
        found.setdefault(key, []).append(waits.times_us[place] - _waited_us(waits, place))
    for begins in found.values():
        begins.sort()
    return found


def _add(lock: Lock, waits: Profile, place: int) -> int:
    """How long this one took."""
    weight_us, waited_us = waits.weights_us[place], _waited_us(waits, place)
    lock.waited_us += weight_us
    lock.waits += waits.objects[place]
    lock.longest_us = max(lock.longest_us, waited_us)
    lock.samples += 1
    lock.what[waits.waited_for[place]] += weight_us
    lock.waiters[waits.callers[waits.nodes[place]]] += weight_us
    return waited_us


def _holder(lock: Lock, waits: Profile, place: int, seen: Optional[_Seen]) -> Holder:
    tid = waits.holders[place]
    holder = lock.holders.get(tid)
    if holder is None:
        process = waits.threads[waits.sample_threads[place]].process.id
        name = _name(waits, process, tid) or (seen.name(process, tid) if seen else "")
        holder = lock.holders[tid] = Holder(tid, name)
    holder.waited_us += waits.weights_us[place]
    return holder


def _name(profile: Profile, process: str, tid: int) -> str:
    names = {thread.process.id: thread.name for thread in profile.threads if thread.tid == tid}
    return names[process] if process in names else next(iter(names.values()), "")


class _Seen:
    """What threads did, by time."""

    def __init__(self, profile: Profile) -> None:
        self._profile = profile
        # The rounds of wall mode are told up to a period after they looked.
        self._late_us = (profile.true_period_us or profile.period_us) if profile.waits else 0
        self._by_thread: dict[tuple[str, int], tuple[array[int], array[int]]] = {}
        self._anywhere: dict[int, tuple[str, int]] = {}
        for place in sorted(range(len(profile.nodes)), key=profile.times_us.__getitem__):
            thread = profile.threads[profile.sample_threads[place]]
            key = thread.process.id, thread.tid
            self._anywhere[thread.tid] = key
            times, nodes = self._by_thread.setdefault(key, (array("q"), array("I")))
            times.append(profile.times_us[place])
            nodes.append(profile.nodes[place])

    def name(self, process: str, tid: int) -> str:
        return _name(self._profile, process, tid)

    def look(self, thread: tuple[str, int], first_us: int, last_us: int, weight_us: int, holder: Holder) -> None:
        """Shares the weight among what the thread did from first to last."""
        found = thread if thread in self._by_thread else self._anywhere.get(thread[1], thread)
        times, nodes = self._by_thread.get(found, (array("q"), array("I")))
        first, end = bisect_left(times, first_us + self._late_us), bisect_right(times, last_us)
        chosen = nodes[first:end][:: max(1, (end - first) // _LOOKS)]
        for node in chosen:
            holder.doing[node] += weight_us // len(chosen)
