"""Replies of _getCpuSamples in the table form, made of stacks.

    table_reply([("main;walk;leaf", {"tid": 7, "tag": "parse", "us": 1000, "vm": "Native",
                                     "cut": True, "after": 1000, "isolate": "isolates/42"})])

Outermost call first; "name:12" is at line 12; "a|b" is b inlined into a, one pc.
"""

from __future__ import annotations

from typing import Any, Iterable, Mapping

_COLUMNS = ("timeDeltas", "threads", "callers", "frames", "cpuNanos", "vmTags", "incomplete", "ends")
_COUNTERS = {"ticks": 0, "delivered": 0, "stored": 0, "true_period_us": 1000}


class TableMaker:
    """One reader's side of a service: next() has what is new since the call before."""

    def __init__(self, *, library: str = "app", isolate: str = "isolates/42") -> None:
        self._library, self._isolate = library, isolate
        self._functions: dict[str, int] = {}
        self._frames: dict[str, int] = {}
        self._nodes: dict[tuple[int, int], int] = {}
        self._threads: dict[tuple[int, str, str], int] = {}
        self._sent = [0, 0, 0, 0, 0]
        self._time_us = 0

    def next(self, samples: Iterable[tuple[str, Mapping[str, Any]]]) -> dict[str, Any]:
        samples = list(samples)
        columns: dict[str, list[Any]] = {name: [] for name in _COLUMNS}
        vm_tags = ["Native"]
        origin_us = self._time_us
        for place, (stack, told) in enumerate(samples):
            *callers, leaf = stack.split(";")
            node = 0
            for pc in callers:
                node = self._nodes.setdefault((node, self._frame(pc)), len(self._nodes) + 1)
            isolate = told.get("isolate", self._isolate)
            thread = (told.get("tid", 7), told.get("tag", "Default"), isolate)
            columns["timeDeltas"].append(told.get("after", 1000) if place else 0)
            columns["threads"].append(self._threads.setdefault(thread, len(self._threads)))
            columns["callers"].append(node)
            columns["frames"].append(self._frame(leaf))
            columns["cpuNanos"].append(told.get("us", 1000) * 1000)
            if told.get("vm", "Native") not in vm_tags:
                vm_tags.append(told["vm"])
            columns["vmTags"].append(vm_tags.index(told.get("vm", "Native")))
            if told.get("cut"):
                columns["incomplete"].append(place)
                columns["ends"].append("depth")
        self._time_us = origin_us + sum(columns["timeDeltas"]) + 1000
        return self._reply(columns, vm_tags, origin_us)

    def _frame(self, pc: str) -> int:
        for part in pc.split("|"):
            self._functions.setdefault(part.partition(":")[0], len(self._functions))
        return self._frames.setdefault(pc, len(self._frames))

    def _reply(self, columns: dict[str, Any], vm_tags: list[str], origin_us: int) -> dict[str, Any]:
        library, function, frame, node, thread = self._sent
        tables = (self._functions, self._frames, self._nodes, self._threads)
        self._sent = [1, *map(len, tables)]
        nodes = list(self._nodes)[node:]
        tree = {
            "tree": 1, "firstNode": node + 1, "firstThread": thread, "timeOriginMicros": origin_us,
            "nodes": {"callers": [c for c, _ in nodes], "frames": [f for _, f in nodes]},
            "threads": [{"isolateId": isolate, "tid": tid, "name": f"thread {tid}", "userTag": tag}
                        for tid, tag, isolate in list(self._threads)[thread:]],
            "samples": columns,
        }  # fmt: skip
        return {
            "type": "_CpuSamplesTable", "samplePeriod": 1000, "maxStackDepth": 128,
            "sampleCount": len(columns["frames"]), "pid": 42, "next": f"1.{self._time_us}",
            "_counters": dict(_COUNTERS), "vmTags": vm_tags,
            "firstLibrary": library, "firstFunction": function, "firstFrame": frame,
            "libraries": [
                {"id": "libraries/1", "uri": f"file:///usr/bin/{self._library}",
                 "name": self._library, "path": f"/usr/bin/{self._library}", "buildId": "ab01",
                 "system": False, "loadBias": 0}][library:],
            "functions": [
                {"id": f"functions/1/{n:x}", "name": name, "kind": "Native",
                 "owner": {"type": "@Library", "id": "libraries/1"}}
                for name, n in list(self._functions.items())[function:]],
            "frames": [self._wire_frame(pc) for pc in list(self._frames)[frame:]],
            "renamed": [], "trees": [tree] if columns["frames"] else [],
        }  # fmt: skip

    def _wire_frame(self, pc: str) -> dict[str, Any]:
        parts = [part.partition(":") for part in reversed(pc.split("|"))]
        return {
            "functions": [self._functions[name] for name, _, _ in parts],
            "lines": [int(line or 0) for _, _, line in parts],
        }


def table_reply(samples: Iterable[tuple[str, Mapping[str, Any]]]) -> dict[str, Any]:
    return TableMaker().next(samples)
