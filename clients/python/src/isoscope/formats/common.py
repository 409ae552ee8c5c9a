"""What several formats need of a profile.

Units    *_us: microseconds. Places are indexes into a profile's columns.
Order    Threads by process and tid, samples by time: the same profile gives the same file.
"""

from __future__ import annotations

import json
from itertools import groupby
from typing import Any, BinaryIO, NamedTuple, Optional

from ..errors import BadFile
from ..model import Function, Library, Process
from ..profile import CPU, Profile, Thread

SAMPLES, MICROS = "samples", "us"  # what a stack's weight counts
AUTO = ""  # CPU time where the profile's shares are of it, else samples


class ThreadSamples(NamedTuple):
    thread: Thread
    places: list[int]  # in the order of time; never empty


def by_thread(profile: Profile) -> list[ThreadSamples]:
    places: list[list[int]] = [[] for _ in profile.threads]
    for place, thread in enumerate(profile.sample_threads):
        places[thread].append(place)
    found = [
        ThreadSamples(thread, sorted(mine, key=profile.times_us.__getitem__))
        for thread, mine in zip(profile.threads, places)
        if mine
    ]
    return sorted(found, key=lambda one: thread_key(one.thread))


def thread_key(thread: Thread) -> tuple[int, str, int]:
    return pid_of(thread.process), thread.process.id, thread.tid


def in_time(profile: Profile) -> list[int]:
    """All places, in the order of time."""
    return sorted(range(len(profile)), key=profile.times_us.__getitem__)


def told(profile: Profile) -> list[tuple[int, int]]:
    """Times and places for readers that count samples and look at the gaps between them: each as
    often as the periods it stands for, over the time that these took, and never two at one time.
    What is left of a period is its thread's next sample's."""
    period_us = max(profile.period_us, profile.true_period_us)
    if chosen(profile, AUTO) == SAMPLES or not period_us:
        return _apart([(profile.times_us[place], place) for place in in_time(profile)], period_us)
    left_us = [period_us // 2] * len(profile.threads)
    times: list[tuple[int, int]] = []
    for place in in_time(profile):
        thread, end_us = profile.sample_threads[place], profile.times_us[place]
        count, left_us[thread] = divmod(left_us[thread] + profile.weights_us[place], period_us)
        times += [(end_us - back * period_us, place) for back in range(count)]
    return _apart(sorted(times), period_us)


def _apart(times: list[tuple[int, int]], gap_us: int) -> list[tuple[int, int]]:
    """Those of one time are spread over the gap before it."""
    spread: list[tuple[int, int]] = []
    for time_us, group in groupby(times, key=lambda one: one[0]):
        places = [place for _, place in group]
        before_us = spread[-1][0] if spread else time_us - gap_us
        for number, place in enumerate(places, 1):
            spread.append((before_us + (time_us - before_us) * number // len(places), place))
    return spread


def pid_of(process: Process) -> int:
    """0 where there is nothing like one."""
    if process.pid:
        return process.pid
    return int(process.number) if process.number.isdecimal() else 0


def thread_label(thread: Thread) -> str:
    """As "worker (pid 12, tid 13)", which thread_of reads."""
    name = thread.name or thread.process.name
    return f"{name} (pid {pid_of(thread.process)}, tid {thread.tid})"


def start_us(profile: Profile, place: int) -> int:
    """Where the CPU time of a sample begins: it was taken at the end of it."""
    return profile.times_us[place] - profile.weights_us[place]


def chosen(profile: Profile, weight: str) -> str:
    """SAMPLES or MICROS."""
    return weight or (MICROS if profile.weight == CPU else SAMPLES)


def weight_of(profile: Profile, weight: str) -> Any:
    """A column: how much each sample counts."""
    return profile.weights_us if chosen(profile, weight) == MICROS else [1] * len(profile)


def one_line(text: str) -> str:
    """For formats whose entries end with the line."""
    return " ".join(text.splitlines())


def path_of(library: Optional[Library]) -> str:
    return (library.path or library.name) if library else ""


def library_path(function: Function) -> str:
    return path_of(function.library)


def write_json(value: Any, out: BinaryIO) -> None:
    out.write(json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode(*UTF8))


# A symbol table may hold what is no character.
UTF8 = ("utf-8", "replace")

_COUNT_MAX = 20_000_000


def repeated(count: Any, profile: Profile) -> range:
    """For a reader of a format that says how often, where a profile has one sample each."""
    if count != int(count) or count < 0:
        raise BadFile(f"invalid number of samples: {count}")
    if len(profile) + count > _COUNT_MAX:
        raise BadFile(f"more than {_COUNT_MAX:,} samples")
    return range(int(count))


def middle_weight(profile: Profile) -> int:
    """As a period, for formats that do not tell it."""
    weights = sorted(weight for weight in profile.weights_us if weight > 0)
    return weights[len(weights) // 2] if weights else 0
