"""Findings of page faults, with --faults: who touches memory for the first time, where that takes the kernel long.

What a page fault costs is not sampled: it is taken to be half a microsecond, for a page of 4 KiB that the kernel zeroes.
In a virtual machine 1.6 to 1.7 were measured, so what is told is the least that it may be.
"""

from __future__ import annotations

from collections import Counter
from typing import Iterator, NamedTuple, Optional

from . import commands
from .chance import Z, Share, effective, share
from .cpu import CpuTime, allocation_sites
from .facts import Facts
from .finding import FAULT, SAMPLES_LEAST, Finding, percent
from .places import Seen, places_of
from .words import Name, Sentence, joined

FAULTS_LEAST = 0.10  # of the CPU time
COST_US = 0.5
_NAMED = 3


class Faults(NamedTuple):
    faults: int
    samples: int
    cost_us: float  # at least
    part: Share  # of the CPU time
    effective: float
    seen: list[Seen]  # who has them, the most first

    @property
    def told(self) -> str:
        return f"{self.faults:,} in {self.samples:,} samples"


def faults_of(facts: Facts) -> Optional[Faults]:
    """None: they were not sampled."""
    profile = facts.faults
    if profile is None:
        return None
    nodes: Counter[int] = Counter()
    for node, count in zip(profile.nodes, profile.weights_us):
        nodes[node] += count
    count, cpu_us = sum(nodes.values()), facts.cpu_us
    alike = effective(profile.weights_us)
    cost_us = COST_US * count
    value = min(1.0, cost_us / cpu_us) if cpu_us else 0.0
    part = Share(value, Z * value / max(1.0, alike) ** 0.5)
    return Faults(count, len(profile), cost_us, part, alike, places_of(profile, nodes) if nodes else [])


def first_touches(cpu: CpuTime, facts: Facts) -> Iterator[Finding]:
    found = faults_of(facts)
    if found is None or found.samples < SAMPLES_LEAST or not cpu.is_enough or found.part.least < FAULTS_LEAST:
        return
    top = found.seen[0]
    named = [(*one.place.where, f" ({percent(one.samples / found.faults)})") for one in found.seen[:_NAMED]]
    evidence: list[Sentence] = [
        (f"page faults: {found.told}; at half a microsecond each, which is the least, they take "
         f"{found.cost_us / 1000:,.0f} ms: {percent(found.part.value)} of the CPU time",),
        ("in ", *joined(", ", named)),
    ]  # fmt: skip
    sites = allocation_sites(facts)
    if sites:
        evidence.append(sites)
    yield Finding(
        FAULT,
        ("page faults: ", Name(top.place.function)),
        share(top.samples, found.faults, found.effective),
        "of the page faults are there",
        top.place,
        top.path,
        tuple(evidence),
        ("memory is touched for the first time all the time: the kernel finds a page for it, and fills it with zeros",),
        ("keep the memory of ", Name(top.place.function), " and use it again, in place of mapping and unmapping it (of malloc: "
         "`mallopt`'s M_MMAP_THRESHOLD and M_TRIM_THRESHOLD); or have huge pages for it (`madvise`, MADV_HUGEPAGE)"),
        commands.faults(),
        cpu.rank(found.part),
    )  # fmt: skip
