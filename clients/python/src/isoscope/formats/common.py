"""What several formats need of a profile.

Units    *_us: microseconds. Places are indexes into a profile's columns.
Order    Threads by process and tid, samples by time: the same profile gives the same file.
"""

from __future__ import annotations

import json
from typing import Any, BinaryIO, NamedTuple, Optional

from ..errors import BadFile
from ..model import Function, Library, Process
from ..profile import Profile, Thread

SAMPLES, MICROS = "samples", "us"  # what a stack's weight counts


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


def weight_of(profile: Profile, weight: str) -> Any:
    """A column: how much each sample counts."""
    return profile.weights_us if weight == MICROS else [1] * len(profile)


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
        raise BadFile(f"a count of {count} samples")
    if len(profile) + count > _COUNT_MAX:
        raise BadFile(f"more than {_COUNT_MAX:,} samples")
    return range(int(count))


def middle_weight(profile: Profile) -> int:
    """As a period, for formats that do not tell it."""
    weights = sorted(weight for weight in profile.weights_us if weight > 0)
    return weights[len(weights) // 2] if weights else 0
