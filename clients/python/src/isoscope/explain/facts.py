"""What is known of a run, as plain data: from a service, which has all of it, or from a file.

    of_service(client, profile, processes, ask) -> Facts
    of_file(profile) -> Facts                     only what its samples say

Units      *_us: microseconds of the samples' clock. cpu_us: CPU time.
Errors     Those of the client. What an older or another service does not have is None.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Callable, Mapping, Optional, Sequence

from ..client import Client
from ..errors import RpcError
from ..model import Process
from ..operations import METHOD_NOT_FOUND
from ..model import ALLOC, FAULT, LOCK, TIME, WAIT
from ..profile import Profile
from ..stalls import LoopStats, Stall
from .known_calls import of_nodes
from .lock_samples import LockWaits, lock_waits

_OUTSIDE = ("perf", "suspend")  # timers of `isoscope attach`
RUNNING, RUNNABLE = "Running", "Runnable"

# Kinds of samples beside those of time, and by which flags a service has them. A further kind is a further row.
_OTHER_KINDS: dict[str, Callable[[Mapping[str, str]], bool]] = {
    ALLOC: lambda flags: flags.get("profile_alloc", "0") != "0",
    LOCK: lambda flags: flags.get("profile_lock", "0") != "0",
    WAIT: lambda flags: flags.get("profile_lock", "0") != "0",
    FAULT: lambda flags: flags.get("profile_faults", "0") != "0",
}


@dataclass
class Facts:
    profiles: dict[str, Profile]  # by kind; that of time is always there
    span_us: int  # for how long the program was watched; 0: not told
    stalls: Optional[list[Stall]] = None  # None: not told
    loops: Optional[LoopStats] = None
    has_waits: bool = False  # wall mode: threads that sleep were sampled, too
    is_outside: bool = False  # all of it was sampled from outside: nothing was put into a program
    limits: Counter[str] = field(default_factory=Counter)  # on sampling: "throttled" and the like, by how often

    @property
    def time(self) -> Profile:
        return self.profiles[TIME]

    @property
    def allocations(self) -> Optional[Profile]:
        return self.profiles.get(ALLOC)

    @property
    def faults(self) -> Optional[Profile]:
        """None: page faults were not sampled."""
        return self.profiles.get(FAULT)

    @cached_property
    def locks(self) -> Optional[LockWaits]:
        return lock_waits(self.profiles.get(LOCK), self.profiles.get(WAIT), self.time)

    @cached_property
    def calls(self) -> list[str]:
        """Of each node of the profile of time, as known_calls has them."""
        return of_nodes(self.time)

    @cached_property
    def running(self) -> Profile:
        """The samples in which CPU time was used. In wall mode a thread that ran between two looks is counted as
        running where it sleeps: by number these are right, by CPU time they are not."""
        profile = self.time
        if not self.has_waits:
            return profile
        states = {number for number, state in enumerate(profile.vm_tags) if state in (RUNNING, "Native", "GilHeld")}
        return profile.choose([place for place, state in enumerate(profile.states) if state in states])

    @property
    def cpu_us(self) -> int:
        profile = self.time
        if self.has_waits:
            return len(self.running) * max(profile.period_us, profile.true_period_us)
        return sum(profile.weights_us)

    @property
    def busy(self) -> Optional[float]:
        """How much of one processor it used; None: not told."""
        return self.cpu_us / self.span_us if self.span_us else None

    @property
    def wanted(self) -> Optional[float]:
        """How much of one processor its threads asked for: in wall mode with what others had in their place."""
        profile = self.time
        if not self.span_us or not self.has_waits:
            return self.busy
        runnable = {number for number, state in enumerate(profile.vm_tags) if state == RUNNABLE}
        starved = sum(state in runnable for state in profile.states)
        return (self.cpu_us + starved * max(profile.period_us, profile.true_period_us)) / self.span_us


def of_file(profile: Profile) -> Facts:
    return Facts({TIME: profile}, profile.last_us - profile.first_us, has_waits=profile.waits)


def of_service(
    client: Client,
    profile: Profile,
    processes: Sequence[Process],
    *,
    ask: Callable[[str], Profile],
    stalls: Optional[list[Stall]],
    whole: bool = True,
) -> Facts:
    """profile: of time, of these processes. ask: gives one of another kind. whole: nothing is left out of it, so
    the processes' lives count."""
    flags = client.flags()
    profiles = {TIME: profile, **{kind: ask(kind) for kind, has in _OTHER_KINDS.items() if has(flags)}}
    isolates = [client.call("getIsolate", isolateId=process.id) for process in processes]
    span_us = profile.last_us - profile.first_us
    if whole:
        span_us = max([span_us, *map(_lived_us, isolates)])
    # Of a program that never waited only the mode tells that it was looked for.
    has_waits = profile.waits or flags.get("profile_mode") == "wall"
    facts = Facts(profiles, span_us, stalls, _loops(client, processes), has_waits)
    facts.is_outside = bool(isolates) and all(one.get("_process", {}).get("timer") in _OUTSIDE for one in isolates)
    for isolate in isolates:
        counters = isolate.get("_process", {}).get("counters", {})
        facts.limits.update({name: int(counters.get(name, 0)) for name in ("lost_throttled", "evicted")})
    return facts


def _lived_us(isolate: Mapping[str, Any]) -> int:
    told = isolate.get("_process", {})
    if "startTime" not in isolate or not told:
        return 0
    end_ms = int(told.get("endTime") or 0) or (time.time() * 1000 if told.get("live") else 0)
    return max(0, round((end_ms - int(isolate["startTime"])) * 1000))


def _loops(client: Client, processes: Sequence[Process]) -> Optional[LoopStats]:
    try:
        stats = client.loop_stats()
    except RpcError as error:
        if error.code != METHOD_NOT_FOUND:
            raise
        return None
    if stats is not None:
        known = {process.id for process in processes}
        stats["loops"] = [loop for loop in stats["loops"] if loop["isolateId"] in known]
    return stats
