"""What a file says of the sampling that filled it: for `isoscope stats FILE`.

    Profile -> text_of -> lines        Profile -> json_of -> one object
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Mapping

from ...profile import Profile, Thread
from ...text import counted, duration, printable

_THREADS = 10  # of a process that are named


@dataclass
class _Thread:
    thread: Thread
    samples: int = 0
    us: int = 0  # of CPU time


@dataclass
class _Process:
    label: str
    threads: list[_Thread] = field(default_factory=list)

    @property
    def samples(self) -> int:
        return sum(thread.samples for thread in self.threads)

    @property
    def us(self) -> int:
        return sum(thread.us for thread in self.threads)


def text_of(profile: Profile, name: str, losses: Mapping[str, str]) -> list[str]:
    """losses: what a cause is in words, by its name on the wire."""
    processes = _processes(profile)
    count, threads = len(profile), sum(len(process.threads) for process in processes.values())
    whose = f"{len(processes)} process{'' if len(processes) == 1 else 'es'}"
    lines = [f"{name}: {counted(count, 'sample')} of {whose}, {counted(threads, 'thread')}"]
    lines.append(f"  time        {_span(profile)}; {_ms(sum(profile.weights_us))} of CPU time")
    lines.append(f"  period      {_period(profile)}")
    for cause, lost in profile.lost.most_common():
        what = losses.get(f"lost_{cause}", cause)
        lines.append(f"  {'lost':<10}{lost:>12,}  {what}")
    if not profile.lost:
        lines.append("  lost        none, or not recorded in this format")
    whole = count - len(profile.cut)
    lines.append(f"  stacks      {100 * whole / count:.1f} % complete")
    for process in processes.values():
        lines += ["", f"{process.label}: {counted(process.samples, 'sample')}, {_ms(process.us)}"]
        for one in process.threads[:_THREADS]:
            label = f"{printable(one.thread.name) or 'thread'} ({one.thread.tid})"
            lines.append(f"  {one.samples:>12,} samples  {_ms(one.us):>12}  {label}")
        if len(process.threads) > _THREADS:
            lines.append(f"  ... {len(process.threads) - _THREADS} threads with fewer samples")
    return lines


def json_of(profile: Profile, name: str) -> dict[str, Any]:
    return {
        "type": "isoscope.stats",
        "file": name,
        "sampleCount": len(profile),
        "cpuMicros": sum(profile.weights_us),
        "samplePeriod": profile.period_us,
        "samplePeriodTrue": profile.true_period_us,
        "timeOriginMicros": profile.first_us,
        "timeExtentMicros": profile.last_us - profile.first_us,
        "cutCount": len(profile.cut),
        "lost": dict(profile.lost),
        "processes": [
            {
                "process": key,
                "name": process.threads[0].thread.process.name,
                "samples": process.samples,
                "cpuMicros": process.us,
                "threads": [
                    {"tid": one.thread.tid, "name": one.thread.name, "samples": one.samples,
                     "cpuMicros": one.us}
                    for one in process.threads
                ],
            }
            for key, process in _processes(profile).items()
        ],
    }  # fmt: skip


def _processes(profile: Profile) -> dict[str, _Process]:
    """Those with samples by id, in the order of their first threads; threads the busiest first."""
    counts, times_us = Counter(profile.sample_threads), Counter[int]()
    for number, us in zip(profile.sample_threads, profile.weights_us):
        times_us[number] += us
    found: dict[str, _Process] = {}
    for number in sorted(counts):
        thread = profile.threads[number]
        process = found.setdefault(thread.process.id, _Process(thread.process.label))
        process.threads.append(_Thread(thread, counts[number], times_us[number]))
    for process in found.values():
        process.threads.sort(key=lambda one: (-one.samples, one.thread.tid))
    return found


def _span(profile: Profile) -> str:
    extent_us = profile.last_us - profile.first_us
    return f"over {extent_us / 1e6:.3f} s" if extent_us else "not recorded in this format"


def _period(profile: Profile) -> str:
    asked, true = profile.period_us, profile.true_period_us
    if not asked and not true:
        return "not recorded in this format"
    if true > asked:
        return f"one sample per {duration(true)} ({duration(asked)} requested)"
    return f"one sample per {duration(asked)} of CPU time"


def _ms(us: int) -> str:
    return f"{us / 1000:,.1f} ms"
