"""Profiles made by hand, for tests of files.

synthetic(): two processes, three threads; recursion, inlined frames, lines, tags, cut stacks, an
idle gap, names that want to be something else. Its totals are known: SAMPLES and SELF_US, TOTAL_US.
"""

from __future__ import annotations

from collections import Counter

from isoscope import Function, Library, Process, Profile

APP = Library("libraries/1", "file:///opt/app/bin/app", "app", "/opt/app/bin/app")
LIBC = Library("libraries/2", "file:///lib/libc.so.6", "libc.so.6", "/lib/libc.so.6")
FUNCTIONS = {
    "main": Function("functions/1", "main", APP, "main(int, char**)", "Native", "/src/main.c", 10),
    "walk": Function("functions/2", "walk", APP, "walk(Node*)", "Native", "/src/walk.c", 30),
    "leaf": Function("functions/3", "leaf", APP, "leaf", "Native", "/src/walk.c", 5),
    "memcpy": Function("functions/4", "memcpy", LIBC, "memcpy", "Native"),
    "</script>": Function("functions/5", "operator<</script>;&(x)", APP, "", "Native"),
    "nowhere": Function("functions/6", "0x7f0012", None, "", "Unnamed"),
}
PERIOD_US = 1000
START_US = 5_000_000

# process, tid, thread, ms of its end, "outermost:line>...", us, tag, cut. "|": what follows is
# inlined into what stands before.
_SAMPLES = [
    (1, 41, "main", 1, "main:11>walk:31>walk:32>walk:32|leaf:6", 1000, "parse", False),
    (1, 41, "main", 2, "main:11>walk:31>walk:32>walk:32|leaf:6", 1000, "parse", False),
    (1, 41, "main", 3, "main:11>walk:31>walk:33|leaf:7", 1000, "parse", False),
    (1, 41, "main", 4, "main:12>memcpy", 1000, "copy", False),
    (1, 41, "main", 5, "main:13", 1000, "Default", False),
    (1, 42, "worker; 1", 2, "walk:31>memcpy", 1000, "Default", True),
    (1, 42, "worker; 1", 3, "walk:31>memcpy", 1000, "Default", True),
    (1, 42, "worker; 1", 9, "main:12></script>", 500, "Default", False),
    (1, 42, "worker; 1", 10, "main:12></script>>nowhere", 1000, "Default", False),
    (2, 51, "helper", 6, "main:11>walk:31", 1000, "Default", False),
    (2, 51, "helper", 7, "main:11>walk:31", 1000, "Default", False),
]
COUNT = len(_SAMPLES)
TOTAL_US = sum(sample[5] for sample in _SAMPLES)


def synthetic() -> Profile:
    profile = Profile()
    profile.period_us = profile.true_period_us = PERIOD_US
    profile.lost["ring_full"] = 2
    processes = {1: Process("isolates/41", "app", 41), 2: Process("isolates/51", "child", 51)}
    for process, tid, name, end_ms, stack, us, tag, cut in _SAMPLES:
        profile.add_sample(
            START_US + 1000 * end_ms,
            profile.thread(processes[process], tid, name),
            _node(profile, stack),
            weight_us=us,
            user_tag=tag,
            state="Native",
            whole=not cut,
        )
    return profile


def _node(profile: Profile, stack: str) -> int:
    node = 0
    for call in stack.replace("</script>>", "\0>").replace("</script>", "\0").split(">"):
        for depth, part in enumerate(call.split("|")):
            name, _, line = part.replace("\0", "</script>").partition(":")
            node = profile.node(node, profile.frame(FUNCTIONS[name], int(line or 0), depth > 0))
    return node


def totals(profile: Profile) -> dict[str, tuple[int, int, int, int]]:
    """Of each name: self and total samples, self and total us. Straight from the stacks."""
    counts: dict[str, Counter[str]] = {}
    for row in profile.samples():
        names = [frame.function.name for frame in profile.stack(row.node)]
        for name in set(names):
            counts.setdefault(name, Counter())["total"] += 1
            counts[name]["total_us"] += row.weight_us
        counts[names[0]]["self"] += 1
        counts[names[0]]["self_us"] += row.weight_us
    keys = ("self", "total", "self_us", "total_us")
    return {name: tuple(count[key] for key in keys) for name, count in counts.items()}


def plain(profile: Profile, *, times: bool = True) -> list[tuple]:
    """Each sample by its words, in an order that does not depend on tables."""
    return sorted(
        (
            row.time_us if times else 0,
            row.thread.process.pid,
            row.thread.tid,
            row.weight_us,
            row.user_tag,
            row.state,
            row.whole,
            tuple(
                (f.function.name, _path(f.function), f.line, f.inlined)
                for f in profile.stack(row.node)
            ),
        )
        for row in profile.samples()
    )


def _path(function: Function) -> str:
    return function.library.path if function.library else ""
