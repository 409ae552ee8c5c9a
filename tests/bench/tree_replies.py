"""Replies of _getCpuSamples in the table form, of programs that only exist here: what a big profile
looks like on the wire, page by page as Client.profile asks for it, the same for every run.

    Program      walks through 3,000 functions; most time is spent where it was spent before
    EverNew      no stack comes twice: below calls that hardly change the rest is anything

A tree of callers holds `tree_samples` samples, as the service begins a new one with each chunk.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field
from typing import Any, Iterator, Protocol

FUNCTIONS, THREADS = 3_000, 8


class Stacks(Protocol):
    def stack(self) -> list[int]:
        """Outermost first; functions by number."""
        ...


class Program:
    """Functions that call a few others each; a stack is a walk, and the next one begins in its
    middle."""

    def __init__(self, depth: int) -> None:
        self._random, self._depth = random.Random(1), depth
        self._calls = [self._random.sample(range(FUNCTIONS), 4) for _ in range(FUNCTIONS)]
        self._walk: list[int] = [0]

    def stack(self) -> list[int]:
        depth = self._depth
        walk = self._walk[: self._random.randint(depth * 2 // 3, depth - 1)]
        while len(walk) < depth:
            choice = min(int(self._random.expovariate(1.5)), 3)
            walk.append(self._calls[walk[-1]][choice])
        self._walk = walk
        return walk


class EverNew:
    """No stack comes twice: below `shared` calls, of which one changes now and then, the rest is
    anything."""

    _CHANGES_AFTER = 100

    def __init__(self, depth: int, shared: int) -> None:
        self._random, self._depth = random.Random(1), depth
        self._shared = [self._random.randrange(FUNCTIONS) for _ in range(shared)]
        self._made = 0

    def stack(self) -> list[int]:
        shared, draw = self._shared, self._random.randrange
        self._made += 1
        if self._made % self._CHANGES_AFTER == 0:
            place = draw(len(shared) * 2 // 3, len(shared))
            shared[place:] = [draw(FUNCTIONS) for _ in shared[place:]]
        return shared + [draw(FUNCTIONS) for _ in range(self._depth - len(shared))]


@dataclass
class Replies:
    """The texts of one profile, as they come over the socket."""

    stacks: Stacks
    samples: int
    page: int
    tree_samples: int
    lines: int = 1  # seen of each function; each is a frame of its own
    nodes: int = field(default=0, init=False)  # of the wire, so far

    def texts(self) -> Iterator[str]:
        number = 1
        for first in range(0, self.samples, self.page):
            trees = []
            last = min(first + self.page, self.samples)
            for start in range(first, last, self.tree_samples):
                trees.append(self._tree(number, min(self.tree_samples, last - start)))
                number += 1
            more = {} if last == self.samples else {"more": True}
            result = {**_head(first == 0, self.lines), **more, "trees": trees, "sampleCount": last - first}
            message = {"jsonrpc": "2.0", "id": "1", "result": result}
            yield json.dumps(message, separators=(",", ":"))

    def _tree(self, number: int, count: int) -> dict[str, Any]:
        nodes: dict[tuple[int, int], int] = {}
        columns: dict[str, list[Any]] = {name: [] for name in (
            "timeDeltas", "threads", "callers", "frames", "cpuNanos", "vmTags", "incomplete",
            "ends")}  # fmt: skip
        for place in range(count):
            line = place % self.lines
            *callers, leaf = [function * self.lines + line for function in self.stacks.stack()]
            node = 0
            for frame in callers:
                node = nodes.setdefault((node, frame), len(nodes) + 1)
            for name, value in (("timeDeltas", 125), ("threads", place % THREADS),
                                ("callers", node), ("frames", leaf),
                                ("cpuNanos", 1_000_000 + place), ("vmTags", 0)):  # fmt: skip
                columns[name].append(value)
        self.nodes += len(nodes) + count
        return {
            "tree": number, "firstNode": 1, "firstThread": 0,
            "timeOriginMicros": number * self.tree_samples * 125,
            "nodes": {"callers": [c for c, _ in nodes], "frames": [f for _, f in nodes]},
            "threads": [{"isolateId": "isolates/1", "tid": 1 + t, "name": "main", "userTag": "main"}
                        for t in range(THREADS)],
            "samples": columns,
        }  # fmt: skip


def _head(first: bool, lines: int) -> dict[str, Any]:
    """The tables come with the first reply."""
    tables = FUNCTIONS if first else 0
    return {
        "type": "_CpuSamplesTable", "samplePeriod": 1000, "maxStackDepth": 128, "pid": 1,
        "next": "x", "_counters": {}, "vmTags": ["Native"], "firstLibrary": 0 if first else 1,
        "firstFunction": 0 if first else FUNCTIONS, "firstFrame": 0 if first else FUNCTIONS * lines,
        "libraries": [{"id": "libraries/1", "uri": "file:///usr/bin/app"}] if first else [],
        "functions": [{"id": f"functions/1/{n:x}", "name": f"function_{n}", "kind": "Native",
                       "owner": {"type": "@Library", "id": "libraries/1"}} for n in range(tables)],
        "frames": [{"functions": [n], "lines": [10 + n % 90 + line]}
                   for n in range(tables) for line in range(lines)],
        "renamed": [],
    }  # fmt: skip
