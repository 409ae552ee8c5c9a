"""Findings of waits: for locks, and for files or peers. Of the time that threads needed (waits.py)."""

from __future__ import annotations

from collections import Counter
from typing import Iterator, Optional

from ..text import counted
from . import commands, lock_samples
from .chance import Share, share
from .facts import Facts
from .finding import IO, LOCK, SAMPLES_LEAST, Finding, percent
from .lock_samples import LockWaits, SampledLock
from .places import Seen, own_frame, places_of
from .waits import Waits
from .words import Name, Sentence, joined

LOCK_LEAST, FILE_LEAST = 0.05, 0.10  # of the time that threads needed
_WAITED_LEAST = 0.02  # of the time that the program was watched: else nobody notices
_NAMED = 3
OF = "of the time that threads needed"
OF_RUNNING = "of the time that threads ran or waited for locks"  # of CPU mode, which knows no other waits


def locks(facts: Facts, waits: Optional[Waits]) -> Iterator[Finding]:
    part = waited_for_locks(facts, waits)
    if part.least < LOCK_LEAST:
        return
    if facts.locks is not None and facts.locks.locks:
        yield _convoy(facts, waits, facts.locks, part)
    elif waits is not None:
        yield _in_line(facts, waits, part)


def waited_for_locks(facts: Facts, waits: Optional[Waits]) -> Share:
    if waits is not None:
        return waited(facts, waits, waits.locks)
    if facts.locks is None or facts.locks.waited_us < _WAITED_LEAST * facts.span_us:
        return Share(0.0, 0.0)
    return lock_samples.share_of_time(facts.locks, facts.time)


def _convoy(facts: Facts, waits: Optional[Waits], sampled: LockWaits, part: Share) -> Finding:
    """With the lock and who had it."""
    worst: SampledLock = sampled.locks[0]
    lock, seen, doing = Name(worst.lock.name), worst.seen, worst.doing()
    top = seen[0].place
    of_samples = _evidence(facts, waits, waits.locks, seen)[:1] if waits is not None and waits.locks else ()
    named = [(*one.place.where, f" ({percent(one.samples / worst.lock.waited_us)})") for one in seen[:_NAMED]]
    less: Sentence = (" in ", Name(doing.place.function)) if doing is not None and doing.place.function != top.function else ()
    return Finding(
        LOCK,
        ("lock waits: ", Name(top.function), " for ", lock),
        part,
        f"{OF if waits is not None else OF_RUNNING} they waited for locks",
        top,
        seen[0].path,
        (*of_samples, *lock_samples.evidence(worst, sampled), ("waited for by ", *joined(", ", named))),
        ("threads stand in line for ", lock, ", which ", Name(top.function), " takes"),
        ("hold it for less time", *less, ", or split what it protects"),
        commands.locks(),
        part.value,
    )


def _in_line(facts: Facts, waits: Waits, part: Share) -> Finding:
    """By what samples of time say, which know no lock's name."""
    seen = places_of(facts.time, waits.locks)
    top = seen[0].place
    return Finding(
        LOCK,
        ("lock waits: ", Name(top.function)),
        part,
        f"{OF} they waited for locks",
        top,
        seen[0].path,
        _evidence(facts, waits, waits.locks, seen),
        ("threads stand in line for a lock that ", Name(top.function), " takes"),
        ("hold it for less time, or split what it protects; `isoscope run --lock` names it, and who has it",),
        commands.below(top.function),
        part.value,
    )


def files(facts: Facts, waits: Waits) -> Iterator[Finding]:
    part = waited(facts, waits, waits.files)
    if part.least < FILE_LEAST:
        return
    seen = places_of(facts.time, waits.files)
    top = seen[0].place
    yield Finding(
        IO,
        ("I/O waits: ", Name(top.function)),
        part,
        f"{OF} they waited for files, pipes or peers",
        top,
        seen[0].path,
        _evidence(facts, waits, waits.files, seen),
        ("its thread can do nothing while ", Name(_call_of(facts, waits.files)), " waits"),
        ("ask for more at a time, ask earlier, or do other work meanwhile in another thread",),
        commands.below(top.function),
        part.value,
    )


def waited(facts: Facts, waits: Waits, nodes: Counter[int]) -> Share:
    """Nothing where it is too little to be noticed, or to prove anything."""
    samples = sum(nodes.values())
    if waits.needed < SAMPLES_LEAST or not noticed(facts, samples):
        return Share(0.0, 0.0)
    return share(samples, waits.needed, waits.needed)


def noticed(facts: Facts, samples: int) -> bool:
    """It is something of the time that the program was watched."""
    return samples > 0 and samples * facts.time.period_us >= _WAITED_LEAST * facts.span_us


def _evidence(facts: Facts, waits: Waits, nodes: Counter[int], seen: list[Seen]) -> tuple[Sentence, ...]:
    threads = {t for t, node in zip(facts.time.sample_threads, facts.time.nodes) if node in nodes}
    samples = sum(nodes.values())
    waited_s = samples * facts.time.period_us / 1e6
    named = [(*one.place.where, f" ({percent(one.samples / samples)})") for one in seen[:_NAMED]]
    return (
        (f"{samples:,} of {waits.needed:,} samples: some {waited_s:,.2f} s of waiting in {counted(len(threads), 'thread')}",),
        ("in ", Name(_call_of(facts, nodes)), ", called by ", *joined(", ", named)),
    )


def _call_of(facts: Facts, nodes: Counter[int]) -> str:
    """The call that most of it waits in: the last one that the program's own code makes."""
    counts: Counter[str] = Counter()
    for node, samples in nodes.items():
        stack = facts.time.stack(node)
        counts[stack[max(own_frame(stack) - 1, 0)].function.name] += samples
    return counts.most_common(1)[0][0]
