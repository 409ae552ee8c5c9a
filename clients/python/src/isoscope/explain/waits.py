"""What threads waited for, in wall mode: for a lock, for a file or a peer; and what was rest.

    Facts -> waits_of -> Waits; None in CPU mode, which does not see them

A thread rests that waits for work to come: on a condition, for a connection, in a poll, asleep. So does one that
reads, and stays in one read after another for more than a second. What is left is the time that threads needed.

Units    Samples, each of which is one look at one thread.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Collection, Optional

from ..profile import Profile
from .facts import RUNNABLE, Facts
from .known_calls import FILE, LOCK, MEMORY, READ

_REST_US = 1_000_000
_LOCK_STATES, _IO_STATES = ("Lock", "Blocked"), ("IO", "Blocked")
_REST_STATES = ("Lock", "IO", "Sleep", "Blocked")

_Where = tuple[int, int]  # thread and node


@dataclass
class Waits:
    locks: Counter[int] = field(default_factory=Counter)  # samples by node
    files: Counter[int] = field(default_factory=Counter)
    needed: int = 0  # samples that are no rest
    starved: int = 0  # that wanted a processor, of these


def waits_of(facts: Facts) -> Optional[Waits]:
    if not facts.has_waits:
        return None
    profile = facts.time
    waits = Waits()
    reads: Counter[_Where] = Counter()
    seen = Counter(zip(profile.states, profile.sample_threads, profile.nodes))
    for (state, thread, node), samples in seen.items():
        word, call = profile.vm_tags[state], facts.calls[node]
        if word == "GilWait" or (word in _LOCK_STATES and call in (LOCK, MEMORY)):
            waits.locks[node] += samples
        elif word in _IO_STATES and call == FILE:
            waits.files[node] += samples
        elif word in _IO_STATES and call == READ:
            reads[thread, node] += samples
        elif word in _REST_STATES:
            continue
        elif word == RUNNABLE:
            waits.starved += samples
        waits.needed += samples
    resting = _resting(profile, reads.keys()) if reads else set()
    for where, samples in reads.items():
        if where in resting:
            waits.needed -= samples
        else:
            waits.files[where[1]] += samples
    return waits


def _resting(profile: Profile, reads: Collection[_Where]) -> set[_Where]:
    """Those that stay in one read for long: a mean of the stretches in which the thread is seen nowhere else."""
    stretches: dict[_Where, list[int]] = defaultdict(list)  # how long
    last: dict[int, tuple[_Where, int, int]] = {}  # of a thread: where it is, since when, until when
    io = {number for number, state in enumerate(profile.vm_tags) if state in _IO_STATES}
    for at in sorted(range(len(profile)), key=profile.times_us.__getitem__):
        thread, time_us = profile.sample_threads[at], profile.times_us[at]
        where = thread, profile.nodes[at] if profile.states[at] in io else 0
        before = last.get(thread)
        if before is not None and before[0] == where:
            last[thread] = where, before[1], time_us
            continue
        if before is not None:
            stretches[before[0]].append(before[2] - before[1])
        last[thread] = where, time_us, time_us
    for where, begin_us, end_us in last.values():
        stretches[where].append(end_us - begin_us)
    long = {where for where, all_us in stretches.items() if len(all_us) == 1 or sum(all_us) > _REST_US * len(all_us)}
    return long & set(reads)
