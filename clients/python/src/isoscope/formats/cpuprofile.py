"""V8's .cpuprofile, one thread a file: Chrome DevTools, VS Code.

Readers give a sample the time until the next one, while ours stands at the end of what it measured:
so each is written where its CPU time began, what passes until the next is a sample of (idle), and a
last one of (root) ends the row. Until gaps add up to half a period the samples after them are moved
to the left instead: CPU times stay right, and Firefox's reader leaves out what is shorter than 500
us. Times are rounded to 125 us, 1/8 ms, where the period is 500 us or more: Chrome counts in
milliseconds, in which others are no exact numbers, and then takes neighbours for nested and loses
their self times.

Reading takes those of other writers, too: a sample has the time until the next one, the last one that until the
end, and what is in (idle) or (root) is nobody's. Samples of V8 may come out of order.

Lost: other threads, tags, cut stacks, which frames were inlined; libraries where the source is
known (else they stand in the url); lines but those of leaves (positionTicks).
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any, BinaryIO, Mapping, Optional
from urllib.parse import quote, unquote, urlsplit

from ..errors import BadFile, CannotWrite
from ..model import Function, Library, Process
from ..profile import Profile
from ..stacks import FunctionTree
from .common import by_thread, library_path, middle_weight, start_us, thread_label, write_json

_ROOT, _IDLE = 1, 2  # ids of nodes; the functions' begin at 3
_GRID_US = 125
FORM = "cpuprofile"
_NOBODY = ("(root)", "(idle)")
_IS_LIBRARY = re.compile(r"/[^/.]+|.*\.(so(\.\d+)*|dylib|dll|exe)")  # which stands in place of a source


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


def knows(value: Mapping[str, Any]) -> bool:
    return "nodes" in value and "timeDeltas" in value


def read(value: Mapping[str, Any]) -> Profile:
    profile = Profile()
    profile.meta["form"] = FORM
    try:
        thread = profile.thread(Process("isolates/0", "process"), 0)
        tree = _Tree(profile, value["nodes"])
        times = _begins(value)
        for (time_us, node), (end_us, _) in zip(times, times[1:]):
            if not tree.is_nobody(node):
                profile.add_sample(end_us, thread, tree.node(node), weight_us=end_us - time_us)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise BadFile(f"invalid .cpuprofile: {error!r}") from error
    profile.period_us = middle_weight(profile)
    return profile


def _begins(value: Mapping[str, Any]) -> list[tuple[int, int]]:
    """When each began, and its node; one more for the end."""
    ids, deltas = value["samples"], value["timeDeltas"]
    if len(ids) != len(deltas):
        raise BadFile(f"invalid .cpuprofile: {len(ids)} samples, {len(deltas)} timeDeltas")
    now, times = int(value["startTime"]), []
    for number, delta in zip(ids, deltas):
        now += int(delta)
        times.append((now, int(number)))
    times.sort(key=lambda one: one[0])
    return [*times, (max([int(value["endTime"]), *(time for time, _ in times[-1:])]), 0)]


class _Tree:
    """Nodes of the file as nodes of the profile, made when a sample needs them."""

    def __init__(self, profile: Profile, nodes: list[Mapping[str, Any]]) -> None:
        self._profile = profile
        self._nodes = {int(node["id"]): node for node in nodes}
        self._callers = {int(child): number for number, node in self._nodes.items() for child in node.get("children") or ()}
        self._callers.update({number: int(node["parent"]) for number, node in self._nodes.items() if "parent" in node})
        self._made: dict[int, int] = {}
        self._functions: dict[tuple[str, str, int], Function] = {}
        self._libraries: dict[str, Library] = {}

    def is_nobody(self, number: int) -> bool:
        return self._nodes[number]["callFrame"]["functionName"] in _NOBODY

    def node(self, number: int) -> int:
        missing: list[int] = []
        at: Optional[int] = number
        while at is not None and at not in self._made and not self.is_nobody(at):
            missing.append(at)
            if len(missing) > len(self._nodes):
                raise ValueError(f"node {number} is its own caller")
            at = self._callers.get(at)
        made = self._made.get(at, 0) if at is not None else 0
        for at in reversed(missing):
            made = self._made[at] = self._profile.node(made, self._profile.frame(self._function(at)))
        return made

    def _function(self, number: int) -> Function:
        frame = self._nodes[number]["callFrame"]
        name, url = str(frame["functionName"]) or "(anonymous)", str(frame.get("url") or "")
        key = name, url, int(frame.get("lineNumber", -1)) + 1
        if key not in self._functions:
            path = unquote(urlsplit(url).path) if url.startswith("file:") else url
            is_library = key[2] <= 1 and _IS_LIBRARY.fullmatch(path[path.rfind("/") :] if "/" in path else path)
            library = self._library(path) if is_library else None
            file, line = ("", 0) if is_library else (path, max(key[2], 0) if path else 0)
            self._functions[key] = Function(str(len(self._functions)), name, library, file=file, line=line)
        return self._functions[key]

    def _library(self, path: str) -> Library:
        return self._libraries.setdefault(path, Library(path, path, path.rpartition("/")[2], path))
