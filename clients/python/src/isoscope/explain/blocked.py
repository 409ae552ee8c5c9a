"""Findings of waits: for locks, and for files or peers. Of the time that threads needed (waits.py)."""

from __future__ import annotations

from collections import Counter
from typing import Iterator

from ..text import counted
from . import commands
from .chance import Share, share
from .facts import Facts
from .finding import IO, LOCK, SAMPLES_LEAST, Finding, percent
from .places import Seen, own_frame, places_of
from .waits import Waits
from .words import Name, Sentence, joined

LOCK_LEAST, FILE_LEAST = 0.05, 0.10  # of the time that threads needed
_WAITED_LEAST = 0.02  # of the time that the program was watched: else nobody notices
_NAMED = 3
OF = "of the time that threads needed"


def locks(facts: Facts, waits: Waits) -> Iterator[Finding]:
    part = waited(facts, waits, waits.locks)
    if part.least < LOCK_LEAST:
        return
    seen = places_of(facts.time, waits.locks)
    top = seen[0].place
    yield Finding(
        LOCK,
        ("lock waits: ", Name(top.function)),
        part,
        f"{OF} they waited for locks",
        top,
        seen[0].path,
        _evidence(facts, waits, waits.locks, seen),
        ("threads stand in line for a lock that ", Name(top.function), " takes"),
        ("hold it for less time, or split what it protects; `isoscope dump PID` shows who holds it",),
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
