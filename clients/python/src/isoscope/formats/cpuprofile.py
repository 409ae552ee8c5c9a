"""V8's .cpuprofile, one thread a file: Chrome DevTools, VS Code.

Readers give a sample the time until the next one, while ours stands at the end of what it measured:
so each is written where its CPU time began, what passes until the next is a sample of (idle), and a
last one of (root) ends the row. Until gaps add up to half a period the samples after them are moved
to the left instead: CPU times stay right, and Firefox's reader leaves out what is shorter than 500
us. Times are rounded to 125 us, 1/8 ms, where the period is 500 us or more: Chrome counts in
milliseconds, in which others are no exact numbers, and then takes neighbours for nested and loses
their self times.

Lost: other threads, tags, cut stacks, which frames were inlined; libraries where the source is
known (else they stand in the url); lines but those of leaves (positionTicks).
"""

from __future__ import annotations

from collections import Counter
from typing import Any, BinaryIO
from urllib.parse import quote

from ..errors import CannotWrite
from ..model import Function
from ..profile import Profile
from ..stacks import FunctionTree
from .common import by_thread, library_path, start_us, thread_label, write_json

_ROOT, _IDLE = 1, 2  # ids of nodes; the functions' begin at 3
_GRID_US = 125


def write(profile: Profile, out: BinaryIO) -> None:
    threads = by_thread(profile)
    if len(threads) != 1:
        names = ", ".join(thread_label(one.thread) for one in threads)
        raise CannotWrite(f"a .cpuprofile holds one thread; here are {len(threads)}: {names}")
    places = threads[0].places
    tree = FunctionTree(profile)
    row = _Row(profile, places, [node + 2 for node in tree.of])
    write_json(
        {
            "nodes": _nodes(profile, tree, places),
            "startTime": row.start,
            "endTime": row.end,
            "samples": row.samples,
            "timeDeltas": row.deltas,
        },
        out,
    )


class _Row:
    """Samples on the time line."""

    def __init__(self, profile: Profile, places: list[int], ids: list[int]) -> None:
        self.samples: list[int] = []
        self.deltas: list[int] = []
        self._grid_us = _GRID_US if profile.period_us >= 4 * _GRID_US else 1
        # Readers take a start of 0 for an empty profile.
        self.start = max(self._grid_us, self._rounded(start_us(profile, places[0])))
        self.end = self._last = self.start
        for place in places:
            gap = start_us(profile, place) - self.end
            if gap > profile.period_us // 2:
                self._put(_IDLE, self.end)
                self.end += gap
            self._put(ids[profile.nodes[place]], self.end)
            self.end += profile.weights_us[place]
        self.end = self._rounded(self.end)
        self._put(_ROOT, self.end)

    def _rounded(self, us: int) -> int:
        return (us + self._grid_us // 2) // self._grid_us * self._grid_us

    def _put(self, node: int, start_us: int) -> None:
        start_us = self._rounded(start_us)
        self.samples.append(node)
        self.deltas.append(start_us - self._last)
        self._last = start_us


def _nodes(profile: Profile, tree: FunctionTree, places: list[int]) -> list[dict[str, Any]]:
    hits: Counter[int] = Counter()
    lines: dict[int, Counter[int]] = {}
    for place in places:
        node = profile.nodes[place]
        mine = tree.of[node]
        hits[mine] += 1
        line = profile.frames[profile.node_frames[node]].line
        if line:
            lines.setdefault(mine, Counter())[line] += 1
    root, idle = _node(_ROOT, "(root)", 0), _node(_IDLE, "(idle)", 0)
    root["children"].append(_IDLE)
    nodes = {0: root}
    for number in tree.used(set(hits)):
        function = tree.functions[number - 1]
        entry = nodes[number] = _node(number + 2, function.name, hits[number])
        entry["callFrame"]["url"] = _url(function)
        entry["callFrame"]["lineNumber"] = max(function.line, 1) - 1
        if number in lines:
            ticks = sorted(lines[number].items())
            entry["positionTicks"] = [{"line": line, "ticks": n} for line, n in ticks]
        nodes[tree.callers[number]]["children"].append(entry["id"])
    return [root, idle, *list(nodes.values())[1:]]


def _node(number: int, name: str, hits: int) -> dict[str, Any]:
    frame = {"functionName": name, "scriptId": "0", "url": "", "lineNumber": 0, "columnNumber": 0}
    return {"id": number, "callFrame": frame, "hitCount": hits, "children": []}


def _url(function: Function) -> str:
    path = function.file or library_path(function)
    return f"file://{quote(path)}" if path.startswith("/") else path
