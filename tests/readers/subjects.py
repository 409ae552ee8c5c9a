"""The profiles that readers are given, and what they have to find in them.

    real()                       Python parsing its own library, under isoscope run
    synthetic()                  recursion, inlines, tags, threads, cut stacks
    expect(profile).check(...)   holds a reader's functions against the profile's own stacks
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Callable, Mapping, Optional

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "live"), str(TESTS / "python")]

from harness import ROOT, Client, profiled, workload  # noqa: E402
from isoscope import Event, Profile, Timeline  # noqa: E402
from isoscope.timeline import SLICE  # noqa: E402
from profiles import synthetic, totals  # noqa: E402

__all__ = ["Expected", "expect", "profiled", "real", "synthetic", "threads_of", "workload"]

# A function's name -> its self and total; None for what a reader does not show.
Table = Mapping[str, "tuple[Optional[float], Optional[float]]"]


def real(seconds: float = 2) -> Profile:
    """On a busy machine the program runs longer."""
    enough = 100 * seconds
    for times in (1, 8, 40):
        program = ["/usr/bin/python3", str(ROOT / "examples" / "stdlib_parse.py"), str(times * seconds)]
        # pprof takes "<module>" and its like out of names.
        with profiled(program, "--no-runtimes") as service, Client(service.uri) as client:
            profile = client.profile(pcs=True)
        if len(profile) > enough:
            break
    assert len(profile) > enough, "the machine had no time for it"
    profile.meta["program"] = "python3 stdlib_parse.py"
    return profile


def threads_of(profile: Profile) -> list[Profile]:
    """One for each, in the order of pid and tid."""
    places: dict[int, list[int]] = {}
    for place, thread in enumerate(profile.sample_threads):
        places.setdefault(thread, []).append(place)
    threads = profile.threads
    order = sorted(places, key=lambda n: (threads[n].process.pid or 0, threads[n].tid))
    return [profile.choose(places[number]) for number in order]


class Expected:
    """Self and total of each name, in samples or in CPU time."""

    def __init__(self, profile: Profile, weight: str) -> None:
        place = 0 if weight == "samples" else 2
        self.rows = {name: row[place : place + 2] for name, row in totals(profile).items()}
        names = Counter(frame.function for frame in profile.frames)
        shared = Counter(function.name for function in names)
        # Two functions of one name may be two rows, and on one stack.
        self.ambiguous = {name for name, count in shared.items() if count > 1}

    def check(
        self,
        table: Table,
        *,
        rename: Callable[[str], str] = lambda name: name,
        within: Callable[[float], float] = lambda value: 0,
        least: float = 0,
    ) -> str:
        """within: how far a value may be from the right one. least: rows whose self is not more
        than that may be missing. Says what was compared."""
        selves = totals_ = 0
        for name, (own, total) in self.rows.items():
            found = table.get(rename(name))
            if found is None:
                assert own <= least, f"{name} is missing; its self is {own}"
                continue
            if found[0] is not None:
                assert abs(found[0] - own) <= within(own), f"{name}: self {found[0]}, not {own}"
                selves += 1
            if found[1] is not None and name not in self.ambiguous:
                said = f"{name}: total {found[1]}, not {total}"
                assert abs(found[1] - total) <= within(total), said
                totals_ += 1
        unknown = set(table) - {rename(name) for name in self.rows}
        assert not unknown, f"nobody put these in: {sorted(unknown)[:5]}"
        assert selves, "nothing was compared"
        return f"{len(self.rows)} functions: {selves} selves, {totals_} totals"


def expect(profile: Profile, weight: str = "samples") -> Expected:
    return Expected(profile, weight)


# Name of slices: how many, and microseconds of all of them.
SLICES = {"load": (10, 5_000), "decode": (20, 2_000), "scan": (20, 400)}


def with_slices(profile: Profile) -> Profile:
    """The same with a timeline of its first thread, within the time of its samples: ten times load,
    with two decode in it, each with a scan at its start."""
    told = profile.choose(list(range(len(profile))))
    told.timeline = Timeline()
    for at_us in range(profile.first_us, profile.first_us + 9_000, 900):
        for begin_us in (at_us + 100, at_us + 300):
            told.timeline.add(_slice(profile, "scan", begin_us, 20, 2))
            told.timeline.add(_slice(profile, "decode", begin_us, 100, 1))
        told.timeline.add(_slice(profile, "load", at_us, 500, 0))
    return told


def _slice(profile: Profile, name: str, at_us: int, us: int, depth: int) -> Event:
    """Without arguments: speedscope takes them for a part of the name."""
    return Event(SLICE, profile.threads[0], name, "Dart", at_us * 1000, us * 1000, depth, "", 0, {})
