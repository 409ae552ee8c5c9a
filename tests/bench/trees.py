#!/usr/bin/env python3
"""What the Python client needs for a big profile: a million samples, 30 frames each.

    ./dev bench trees [--samples N]

The replies are made here, in the table form, page by page as Client.profile asks for them: a new
tree of callers every 10,000 samples, as the service has it. Stacks are walks through a program of
3,000 functions, the same for every run. Measured in seconds of CPU time, each apart: JSON text to
objects, to a Profile, to each kind of tree. Beside it stand `go tool pprof` and speedscope (in
Chromium; all of its processes' CPU time) with the same profile as a pprof file, where they are there.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Callable, TypeVar

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / part) for part in (
    "clients/python/src", "tests/readers", "tests/conformance")]  # fmt: skip

from browser import Browser  # noqa: E402
from pages import Speedscope, served  # noqa: E402

from isoscope import Process, Profile, bottom_up, call_tree  # noqa: E402
from isoscope import formats  # noqa: E402
from isoscope.operations import PAGE  # noqa: E402
from isoscope.rpc import Conversation  # noqa: E402
from isoscope.table import SamplesTable  # noqa: E402
from isoscope.trees import Table, layout  # noqa: E402

SAMPLES, DEPTH, FUNCTIONS, THREADS, TREE_SAMPLES = 1_000_000, 30, 3_000, 8, 10_000
LIMIT_S = 2.0

T = TypeVar("T")


class Program:
    """Functions that call a few others each; a stack is a walk, and the next one begins in its
    middle."""

    def __init__(self) -> None:
        self._random = random.Random(1)
        self._calls = [self._random.sample(range(FUNCTIONS), 4) for _ in range(FUNCTIONS)]
        self._walk: list[int] = [0]

    def stack(self) -> list[int]:
        """Outermost first. Most of the time is spent where it was spent before."""
        walk = self._walk[: self._random.randint(DEPTH * 2 // 3, DEPTH - 1)]
        while len(walk) < DEPTH:
            choice = min(int(self._random.expovariate(1.5)), 3)
            walk.append(self._calls[walk[-1]][choice])
        self._walk = walk
        return walk


def tree_of(program: Program, number: int, count: int) -> dict[str, Any]:
    nodes: dict[tuple[int, int], int] = {}
    columns: dict[str, list[Any]] = {name: [] for name in (
        "timeDeltas", "threads", "callers", "frames", "cpuNanos", "vmTags", "incomplete", "ends")}
    for place in range(count):
        *callers, leaf = program.stack()
        node = 0
        for frame in callers:
            node = nodes.setdefault((node, frame), len(nodes) + 1)
        for name, value in (("timeDeltas", 125), ("threads", place % THREADS), ("callers", node),
                            ("frames", leaf), ("cpuNanos", 1_000_000 + place), ("vmTags", 0)):
            columns[name].append(value)
    return {
        "tree": number, "firstNode": 1, "firstThread": 0,
        "timeOriginMicros": number * TREE_SAMPLES * 125,
        "nodes": {"callers": [c for c, _ in nodes], "frames": [f for _, f in nodes]},
        "threads": [{"isolateId": "isolates/1", "tid": 1 + t, "name": "main", "userTag": "main"}
                    for t in range(THREADS)],
        "samples": columns,
    }  # fmt: skip


def pages(samples: int) -> list[str]:
    """Texts as they come over the socket."""
    program, number, made = Program(), 1, []
    for first in range(0, samples, PAGE):
        trees = []
        for start in range(first, min(first + PAGE, samples), TREE_SAMPLES):
            trees.append(tree_of(program, number, min(TREE_SAMPLES, samples - start)))
            number += 1
        tables = FUNCTIONS if not made else 0
        made.append(json.dumps({"jsonrpc": "2.0", "id": str(len(made) + 1), "result": {
            "type": "_CpuSamplesTable", "samplePeriod": 1000, "maxStackDepth": 128,
            "sampleCount": sum(len(tree["samples"]["frames"]) for tree in trees), "pid": 1,
            "next": "x", "_counters": {}, "vmTags": ["Native"],
            "firstLibrary": 1 if made else 0, "firstFunction": FUNCTIONS if made else 0,
            "firstFrame": FUNCTIONS if made else 0,
            "libraries": [] if made else [{"id": "libraries/1", "uri": "file:///usr/bin/app"}],
            "functions": [{"id": f"functions/1/{n:x}", "name": f"function_{n}", "kind": "Native",
                           "owner": {"type": "@Library", "id": "libraries/1"}}
                          for n in range(tables)],
            "frames": [{"functions": [n], "lines": [10 + n % 90]} for n in range(tables)],
            "renamed": [], "trees": trees,
        }}, separators=(",", ":")))  # fmt: skip
    return made


def _cpu_s() -> float:
    """Of this process, which has one thread, and of those it waited for: others on the machine do
    not count."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def timed(what: str, act: Callable[[], T]) -> tuple[T, float]:
    gc.collect()
    begin = _cpu_s()
    made = act()
    took_s = _cpu_s() - begin
    print(f"  {what:<52} {took_s:7.2f} s", flush=True)
    return made, took_s


def read(texts: list[str]) -> list[Any]:
    """By the client's own conversation, so with all that it does."""
    conversation, replies = Conversation(), []
    for text in texts:
        conversation.request("_getCpuSamples")
        replies.append(conversation.receive(text).unwrap())
    return replies


def gathered(replies: list[Any]) -> Profile:
    profile, table = Profile(), SamplesTable()
    for reply in replies:
        profile.add_update(table.add(reply), [Process("isolates/1", "app")])
    return profile


def go_pprof(path: Path) -> None:
    go = shutil.which("go")
    if not go:
        print("  go tool pprof: not installed (Debian: golang-go)")
        return
    command = [go, "tool", "pprof", "-top", "-nodecount=5", str(path)]
    timed("go tool pprof -top of the same profile", lambda: subprocess.run(
        command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))


def speedscope(path: Path, page: Path) -> None:
    """Until its table of functions stands."""
    chromium = shutil.which("chromium")
    if not chromium or not page.exists():
        print("  speedscope: not here (./dev readers fetches it)")
        return

    def load() -> None:
        with served(page) as address, Browser(chromium) as browser:
            began_s = time.monotonic()
            Speedscope(browser, address).load(path)
            print(f"  (speedscope: {time.monotonic() - began_s:.2f} s by the clock)")

    timed("speedscope with the same profile, and Chromium", load)


def others(profile: Profile, folder: Path, build: Path) -> None:
    """Each reads the file that we write for it."""
    path = folder / "p.pb.gz"
    with open(path, "wb") as out:
        formats.FORMATS["pprof"].write(profile, out)
    print(f"  as pprof: {path.stat().st_size / 1e6:.1f} MB")
    go_pprof(path)
    speedscope(path, build / "readers/node_modules/speedscope/dist/release")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", nargs="?", type=Path, default=ROOT / "build")
    parser.add_argument("--samples", type=int, default=SAMPLES)
    return parser.parse_args()


def main(build: Path, samples: int) -> int:
    texts = pages(samples)
    size_mb = sum(map(len, texts)) / 1e6
    told = f"{size_mb:.1f} MB of JSON in {len(texts)} replies"
    print(f"{samples:,} samples of {DEPTH} frames: {told}")
    replies, parse_s = timed("JSON text to objects", lambda: read(texts))
    profile, columns_s = timed("to a profile (columns)", lambda: gathered(replies))
    del replies
    tree, tree_s = timed("to a call tree", lambda: call_tree(profile))
    total_s = parse_s + columns_s + tree_s
    print(f"  {'text to call tree':<52} {total_s:7.2f} s   (limit {LIMIT_S:g} s at {SAMPLES:,})")
    nodes = sum(1 for _ in tree.walk())
    print(f"  {len(profile.callers):,} distinct stacks, {nodes:,} nodes in the tree")
    timed("by line", lambda: call_tree(profile, merge="line"))
    timed("by thread", lambda: call_tree(profile, group="thread"))
    timed("flat table with callers and callees", lambda: Table.of(tree))
    timed("bottom up, its first 100 ways opened", lambda: [
        root.sorted_children() for root in bottom_up(tree).roots[:100]])
    timed("flame graph layout", lambda: layout(tree))
    print(f"  peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")
    with tempfile.TemporaryDirectory() as folder:
        others(profile, Path(folder), build)
    return 0 if samples < SAMPLES or total_s <= LIMIT_S else 1


if __name__ == "__main__":
    given = arguments()
    sys.exit(main(given.build, given.samples))
