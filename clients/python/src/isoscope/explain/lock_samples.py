"""Waits for locks as the program measured them, where it runs with --lock: which lock, how long, who had it.

    profiles of kinds lock and wait -> lock_waits -> LockWaits; None where waits are not sampled

Locks made of futexes (Rust's) are waits of kind `wait`: those that a function which takes a lock is in are for one.

Units      *_us: microseconds waited.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import sqrt
from typing import Iterator, Optional

from ..locks import Holder, Lock, locks_of
from ..profile import Profile
from ..text import counted
from .chance import Z, Share, effective
from .finding import percent
from .known_calls import LOCK, of_nodes
from .places import Seen, places_of
from .words import Name, Sentence, joined

_HOLDERS = 3
_SOME = 0.01


@dataclass(frozen=True)
class SampledLock:
    lock: Lock
    waits: Profile  # the nodes of the lock's waiters are its
    time: Profile  # those of what holders did

    @property
    def seen(self) -> list[Seen]:
        """Who waits, the longest first; in place of samples stand microseconds."""
        return places_of(self.waits, self.lock.waiters)

    def holders(self) -> list[Holder]:
        return [one for one in self.lock.holders_by_time() if one.tid and one.waited_us >= _SOME * self.lock.waited_us]

    def doing(self) -> Optional[Seen]:
        """What holders did most while others waited, with what is inlined into it; None: nobody saw them."""
        nodes: Counter[int] = Counter()
        for holder in self.lock.holders.values():
            for node, us in holder.doing.items():
                nodes[self._outer(node)] += us
        return places_of(self.time, nodes)[0] if nodes else None

    def _outer(self, node: int) -> int:
        while self.time.frames[self.time.node_frames[node]].inlined:
            node = self.time.callers[node]
        return node


@dataclass(frozen=True)
class LockWaits:
    locks: list[SampledLock]  # the longest waited for first
    waited_us: int
    waits: float
    error: float  # standard error of waited_us, as a share of it
    samples: int

    @property
    def told(self) -> str:
        return (f"{self.waited_us / 1e6:,.2f} s ± {Z * self.error * self.waited_us / 1e6:,.2f} in about "
                f"{counted(round(self.waits), 'wait')}, of which {self.samples:,} were sampled")  # fmt: skip


def lock_waits(locks: Optional[Profile], others: Optional[Profile], time: Profile) -> Optional[LockWaits]:
    """locks, others: profiles of kinds lock and wait."""
    if locks is None:
        return None
    profiles = [locks] + ([_of_locks(others)] if others is not None else [])
    found = [SampledLock(lock, profile, time) for profile in profiles for lock in locks_of(profile, time)]
    waited = [sum(profile.weights_us) for profile in profiles]
    error_us = sqrt(sum((profile.error * us) ** 2 for profile, us in zip(profiles, waited)))
    return LockWaits(
        sorted(found, key=lambda one: -one.lock.waited_us),
        sum(waited),
        sum(sum(profile.objects) for profile in profiles),
        error_us / sum(waited) if sum(waited) else 0.0,
        sum(map(len, profiles)),
    )


def _of_locks(others: Profile) -> Profile:
    calls = of_nodes(others)
    return others.choose([at for at, node in enumerate(others.nodes) if calls[others.callers[node]] == LOCK])


def share_of_time(locks: LockWaits, time: Profile) -> Share:
    """Of the time that threads ran or waited for locks, with the errors of both."""
    ran_us = sum(time.weights_us)
    whole = ran_us + locks.waited_us
    if not whole:
        return Share(0.0, 0.0)
    value = locks.waited_us / whole
    samples = max(1.0, effective(time.weights_us))
    return Share(value, Z * value * (1 - value) * sqrt(locks.error**2 + 1 / samples))


def evidence(one: SampledLock, all_locks: LockWaits) -> Iterator[Sentence]:
    lock = one.lock
    kinds = ", ".join(word for word, _ in lock.what.most_common())
    where: Sentence = (" (", Name(lock.library), ")") if lock.library and not lock.library.startswith("[") else ()
    part = f", {percent(lock.waited_us / all_locks.waited_us)} of that" if len(all_locks.locks) > 1 else ""
    yield (f"threads waited for locks {all_locks.told}",)
    yield ("for ", Name(lock.name), *where, f" ({kinds}){part}; the longest wait {lock.longest_us / 1000:,.1f} ms")
    holders = one.holders()
    if holders:
        named: list[Sentence] = [
            (Name(holder.name or "thread"), f" ({holder.tid}) {percent(holder.waited_us / lock.waited_us)}")
            for holder in holders[:_HOLDERS]
        ]
        more = f" and {len(holders) - _HOLDERS} more" if len(holders) > _HOLDERS else ""
        yield ("held by ", *joined(", ", named), more)
    doing = one.doing()
    if doing is not None:
        yield ("whoever had it was mostly in ", *doing.place.where)
