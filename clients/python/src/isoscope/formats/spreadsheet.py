"""CSV, for spreadsheets: a row a function (write), or a row a sample (write_samples).

Of functions, lost: stacks, threads, time, tags. Of samples, lost: definitions' lines; a stack is
one cell, outermost first, its frames apart by ";". A cell that a spreadsheet would take for a
formula begins with an apostrophe.
"""

from __future__ import annotations

import csv
import io
from typing import Any, BinaryIO

from ..model import Function
from ..profile import Frame, Profile
from ..stacks import FunctionTree
from .common import AUTO, MICROS, UTF8, chosen, in_time, library_path, pid_of

_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def write(profile: Profile, out: BinaryIO) -> None:
    """The hottest first. total: it is anywhere on the stack, counted once a sample."""
    table = function_table(profile)
    head = ["function", "library", "file", "line", "self_samples", "total_samples"]
    rows = _Rows(out, [*head, "self_us", "total_us"])
    by = 2 if chosen(profile, AUTO) == MICROS else 0
    functions = sorted(
        table, key=lambda f: (-table[f][by], -table[f][by + 1], f.name, library_path(f))
    )
    for function in functions:
        where = [library_path(function), function.file, function.line or ""]
        rows.put([function.name, *where, *table[function]])


def write_samples(profile: Profile, out: BinaryIO) -> None:
    head = ["time_us", "pid", "process", "tid", "thread", "cpu_us", "user_tag", "state", "whole"]
    rows = _Rows(out, [*head, "stack"])
    stacks: dict[int, str] = {}
    for place in in_time(profile):
        thread = profile.threads[profile.sample_threads[place]]
        process, node = thread.process, profile.nodes[place]
        if node not in stacks:
            stacks[node] = ";".join([_frame(frame) for frame in profile.stack(node)][::-1])
        rows.put(
            [profile.times_us[place], pid_of(process), process.name, thread.tid, thread.name]
            + [profile.weights_us[place], profile.tags[profile.user_tags[place]]]
            + [profile.vm_tags[profile.states[place]], int(place not in profile.cut), stacks[node]]
        )


def function_table(profile: Profile) -> dict[Function, list[int]]:
    """Self and total samples, self and total CPU time in us."""
    tree = FunctionTree(profile)
    counts: dict[int, list[int]] = {}
    for node, us in zip(profile.nodes, profile.weights_us):
        count = counts.setdefault(tree.of[node], [0, 0])
        count[0] += 1
        count[1] += us
    table: dict[Function, list[int]] = {}
    for node, (samples, us) in counts.items():
        stack = tree.stack(node)
        for function in dict.fromkeys(stack):
            row = table.setdefault(function, [0, 0, 0, 0])
            row[1] += samples
            row[3] += us
        table[stack[-1]][0] += samples
        table[stack[-1]][2] += us
    return table


def _frame(frame: Frame) -> str:
    name = frame.function.name.replace(";", ":")
    return f"{name}:{frame.line}" if frame.line else name


class _Rows:
    def __init__(self, out: BinaryIO, head: list[str]) -> None:
        self._out = out
        self.put(head)

    def put(self, cells: list[Any]) -> None:
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerow([_safe(cell) for cell in cells])
        self._out.write(text.getvalue().encode(*UTF8))


def _safe(cell: Any) -> Any:
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell
