"""The findings that matter, what was looked at to find them, and what makes it unsure.

    Facts -> reading_of -> Reading

Not found, on purpose: threads that wait for work (waits.py); what is large in share and small in time, since nobody
notices it; shares of which the 95 % range reaches below what counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Iterator, Optional

from ..stalls import words as stall_words
from ..text import counted, size
from .blocked import FILE_LEAST, LOCK_LEAST, OF, OF_RUNNING, files, locks, noticed, waited_for_locks
from .chance import Share, share
from .cpu import CHURN_LEAST, HOT_LEAST, CpuTime, allocated_bytes, churn, hot
from .facts import Facts
from .finding import SAMPLES_LEAST, Finding, percent
from .first_touch import FAULTS_LEAST, faults_of, first_touches
from .late import NO_MARKS, NOT_THE_PROGRAMS, late
from .places import is_unnamed
from .waits import Waits, waits_of
from .words import Name, Sentence

FINDINGS_MAX = 5
_LOST, _CUT, _UNNAMED, _STARVED, _HIDDEN, _FEW, _WORTH = 0.05, 0.20, 0.20, 0.30, 0.20, 100, 0.9


@dataclass(frozen=True)
class Reading:
    findings: list[Finding]  # the largest first
    left_out: int  # that did not fit
    looked_at: list[Sentence]
    knows_cpu: bool  # False: there was CPU time, and too few looks met it for shares
    unsure: list[Sentence]


def reading_of(facts: Facts) -> Reading:
    cpu, waits = CpuTime(facts), waits_of(facts)
    found = [*hot(cpu), *churn(cpu, facts), *first_touches(cpu, facts), *late(facts), *locks(facts, waits)]
    if waits is not None:
        found += files(facts, waits)
    found.sort(key=lambda finding: -finding.rank)
    looked_at = [*_cpu(cpu, facts), *_waits(facts, waits), *_locks(facts), _stalls(facts), _allocations(facts), _faults(facts)]
    unsure = list(_unsure(cpu, facts, waits))
    return Reading(found[:FINDINGS_MAX], len(found[FINDINGS_MAX:]), looked_at, not _is_blurred(cpu), unsure)


def _is_blurred(cpu: CpuTime) -> bool:
    return cpu.samples < SAMPLES_LEAST and cpu.matters


# What was looked at: with the figures, so that "nothing" can be judged.


def _told(part: Share) -> str:
    return f"{percent(part.value)} ± {100 * part.error:.1f}"


def _cpu(cpu: CpuTime, facts: Facts) -> Iterator[Sentence]:
    busy = "" if cpu.busy is None else f", {percent(cpu.busy)} of one processor over {facts.span_us / 1e6:.2f} s"
    samples = counted(len(cpu.profile), "sample")
    if cpu.samples < _WORTH * len(cpu.profile):
        samples += f" (worth {cpu.samples:,.0f} equal ones)"
    amount = f"{facts.cpu_us / 1000:,.0f} ms in {samples}{busy}"
    if cpu.samples < SAMPLES_LEAST:
        yield (f"CPU time: {amount}: too few looks for shares",)
        return
    spots = cpu.spots[:1]
    hottest: Sentence = ()
    if spots:
        part = cpu.share(spots[0].row.self_weight)
        hottest = ("; the hottest function is ", Name(spots[0].row.name), f" with {_told(part)}"
                   f" (a finding from {100 * HOT_LEAST:g} % on)")  # fmt: skip
    yield (f"CPU time: {amount}", *hottest)
    yield (f"allocator: {_told(cpu.memory)} of the CPU time (from {100 * CHURN_LEAST:g} % on)",)


def _waits(facts: Facts, waits: Optional[Waits]) -> Iterator[Sentence]:
    if waits is None:
        other = ""
        if facts.locks is not None:
            other = " for anything but locks"
            yield (f"waits for locks: {_told(waited_for_locks(facts, None))} {OF_RUNNING} (from {100 * LOCK_LEAST:g} % on)",)
        yield (f"waits{other}: not sampled; `isoscope run --mode wall` samples threads that wait, too",)
        return
    if waits.needed < SAMPLES_LEAST:
        yield ("waits: threads did nothing but wait for work",)
        return
    for name, nodes, least in (("locks", waits.locks, LOCK_LEAST), ("files, pipes and peers", waits.files, FILE_LEAST)):
        yield (f"waits for {name}: {_told(share(sum(nodes.values()), waits.needed, waits.needed))} {OF} "
               f"(from {100 * least:g} % on)",)  # fmt: skip


def _locks(facts: Facts) -> Iterator[Sentence]:
    if facts.locks is not None and not facts.locks.locks:
        yield ("locks: no thread was seen waiting for one",)
    elif facts.locks is not None:
        yield (f"{counted(len(facts.locks.locks), 'lock')} waited for: {facts.locks.told}",)


def _stalls(facts: Facts) -> Sentence:
    if facts.stalls is None or facts.loops is None:
        return ("stalls: not told by this source",)
    watched = [loop for loop in facts.loops["loops"] if loop["watched"]]
    if not watched and facts.is_outside:
        return (f"stalls: not looked for: {NO_MARKS}",)
    if not watched:
        return ("stalls: no thread is an event loop that can be watched",)
    dispatches = sum(loop["dispatches"] for loop in watched)
    longest = stall_words.time(max(loop["dispatch"]["max"][1] for loop in watched))
    limit = stall_words.time(facts.loops["limits"]["stall"] * 1000)
    return (f"stalls: {counted(len(facts.stalls), 'stall')} of {counted(len(watched), 'loop')} in "
            f"{dispatches:,} dispatches, the longest {longest} (from {limit} on)",)  # fmt: skip


def _allocations(facts: Facts) -> Sentence:
    allocated = allocated_bytes(facts)
    if allocated is None:
        return ("allocated bytes: not sampled; `isoscope run --alloc` does",)
    rate = f", {size(allocated / facts.span_us * 1e6)} a second" if facts.span_us else ""
    return (f"allocated bytes: {size(allocated)}{rate}",)


def _faults(facts: Facts) -> Sentence:
    found = faults_of(facts)
    if found is None:
        return ("page faults: not sampled; `isoscope run --faults` does",)
    return (f"page faults: {found.told}, at least {percent(found.part.value)} of the CPU time "
            f"(from {100 * FAULTS_LEAST:g} % on)",)  # fmt: skip


# What makes the figures unsure.


def _unsure(cpu: CpuTime, facts: Facts, waits: Optional[Waits]) -> Iterator[Sentence]:
    profile, samples = facts.time, max(1, len(facts.time))
    if len(profile) < _FEW:
        yield (f"there are only {counted(len(profile), 'sample')}: run it for longer",)
    lost = sum(profile.lost.values())
    if lost >= _LOST * samples and lost > 1:
        causes = ", ".join(f"{cause} {count:,}" for cause, count in profile.lost.most_common(3))
        yield (f"{counted(lost, 'sample')} lost: ", Name(causes))
    throttled = facts.limits["lost_throttled"]
    if throttled and "throttled" not in profile.lost:
        yield (f"sampling was throttled {throttled:,} times: threads that ticks cost too much have fewer samples",)
    if facts.limits["evicted"]:
        yield (f"the oldest {facts.limits['evicted']:,} samples were dropped to make room",)
    if len(profile.cut) >= _CUT * samples:
        yield (f"{percent(len(profile.cut) / samples)} of the stacks are truncated: callers may be missing",)
    yield from _unnamed(cpu)
    if waits is not None and noticed(facts, waits.starved) and waits.starved >= _STARVED * waits.needed:
        yield (f"threads that wanted a processor had none for {percent(waits.starved / waits.needed)} {OF}: the machine "
               "is busy, or has fewer processors than the program has threads",)  # fmt: skip
    yield from _between_looks(cpu, facts)
    others = [stall for stall in facts.stalls or () if stall["cause"] in NOT_THE_PROGRAMS]
    if others:
        causes = ", ".join(sorted({stall["cause"] for stall in others}))
        yield (f"{counted(len(others), 'stall')} of cause {causes} not counted: the machine's doing, not the program's",)


def _unnamed(cpu: CpuTime) -> Iterator[Sentence]:
    profile = cpu.profile
    unnamed = [is_unnamed(frame.function) for frame in profile.frames]
    leaves = map(profile.node_frames.__getitem__, profile.nodes)
    part = sum(1 if cpu.by_count else us for leaf, us in zip(leaves, profile.weights_us) if unnamed[leaf])
    if cpu.total and part >= _UNNAMED * cpu.total:
        functions = [frame.function for frame, is_one in zip(profile.frames, unnamed) if is_one]
        libraries = {function.library.name for function in functions if function.library}
        where = ", ".join(sorted(libraries)[:3]) or "generated code"
        yield (f"{percent(part / cpu.total)} of the CPU time is in functions without a name, in ", Name(where),
               ": install debug symbols, or record with `isoscope run --debuginfod`")  # fmt: skip


def _between_looks(cpu: CpuTime, facts: Facts) -> Iterator[Sentence]:
    if not len(cpu.profile):
        return
    if cpu.wall and _is_blurred(cpu) and len(cpu.profile) >= _FEW:
        yield ("wall mode met the CPU time in too few looks for shares: CPU mode (the default of `isoscope run`) has them",)
        return
    share_hidden = len(cpu.between_looks) / len(cpu.profile)
    if share_hidden >= _HIDDEN and noticed(facts, len(cpu.between_looks)):
        yield (f"{percent(share_hidden)} of the CPU time was used between two looks of wall mode: CPU mode "
               "(the default of `isoscope run`) shows in which functions",)  # fmt: skip
