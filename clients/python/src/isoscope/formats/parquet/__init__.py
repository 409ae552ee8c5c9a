"""Parquet, for DuckDB, pandas, Spark: a row a sample.

A stack is four lists of one length, leaf first: names, libraries, files and lines of its frames. How much a sample
stands for is in columns by its kind: cpu_us; bytes and objects; wait_us and waits; faults.

Lost: pcs, definitions' lines, inlining.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, BinaryIO, NamedTuple

from ...model import ALLOC, FAULT, LIVE, LOCK, TIME, WAIT
from ...profile import Profile
from ..common import in_time, path_of, pid_of
from .file import BOOLEAN, DOUBLE, INT64, TEXT, Column, ParquetFile

_ROWS = 50_000  # in a group, which is what is held at a time

_WHO = (
    Column("time_us", INT64),
    Column("pid", INT64),
    Column("process", TEXT),
    Column("tid", INT64),
    Column("thread", TEXT),
    Column("user_tag", TEXT),
    Column("state", TEXT),
    Column("whole", BOOLEAN),
)
_AMOUNTS = {TIME: "cpu_us", ALLOC: "bytes", LIVE: "bytes", LOCK: "wait_us", WAIT: "wait_us", FAULT: "faults"}
_COUNTS = {ALLOC: "objects", LIVE: "objects", LOCK: "waits", WAIT: "waits"}
_STACK = (
    Column("function", TEXT),
    Column("library", TEXT),
    Column("file", TEXT),
    Column("line", INT64),
    Column("stack", TEXT, is_list=True),
    Column("stack_library", TEXT, is_list=True),
    Column("stack_file", TEXT, is_list=True),
    Column("stack_line", INT64, is_list=True),
)


class _Stack(NamedTuple):
    names: list[str]
    libraries: list[str]
    files: list[str]
    lines: list[int]


_NONE = _Stack([""], [""], [""], [0])  # of a sample that other writers' files have no stack of


def write(profile: Profile, out: BinaryIO) -> None:
    amount, count = _AMOUNTS[profile.kind], _COUNTS.get(profile.kind)
    columns = [*_WHO, Column(amount, INT64), *([Column(count, DOUBLE)] if count else []), *_STACK]
    file = ParquetFile(out, columns, _told(profile))
    stacks: dict[int, _Stack] = {}
    places = in_time(profile)
    for begin in range(0, len(places), _ROWS):
        piece = places[begin : begin + _ROWS]
        cells = _who(profile, piece)
        cells[amount] = [profile.weights_us[place] for place in piece]
        if count:
            cells[count] = [float(profile.objects[place]) for place in piece]
        cells.update(_stack_cells([_stack(profile, stacks, profile.nodes[place]) for place in piece]))
        file.rows(cells)
    file.close()


def _told(profile: Profile) -> dict[str, str]:
    told = {"kind": profile.kind, "period_us": str(profile.period_us)}
    return {**told, "program": str(profile.meta["program"])} if "program" in profile.meta else told


def _who(profile: Profile, piece: Sequence[int]) -> dict[str, Sequence[Any]]:
    threads = [profile.threads[profile.sample_threads[place]] for place in piece]
    return {
        "time_us": [profile.times_us[place] for place in piece],
        "pid": [pid_of(thread.process) for thread in threads],
        "process": [thread.process.name for thread in threads],
        "tid": [thread.tid for thread in threads],
        "thread": [thread.name for thread in threads],
        "user_tag": [profile.tags[profile.user_tags[place]] for place in piece],
        "state": [profile.vm_tags[profile.states[place]] for place in piece],
        "whole": [place not in profile.cut for place in piece],
    }


def _stack(profile: Profile, known: dict[int, _Stack], node: int) -> _Stack:
    if node not in known:
        frames = profile.stack(node)
        known[node] = _Stack(
            [frame.function.name for frame in frames],
            [path_of(frame.function.library) for frame in frames],
            [frame.function.file for frame in frames],
            [frame.line for frame in frames],
        ) if frames else _NONE
    return known[node]


def _stack_cells(stacks: list[_Stack]) -> dict[str, Sequence[Any]]:
    names, libraries, files, lines = ([stack[part] for stack in stacks] for part in range(4))
    leaves = zip(("function", "library", "file", "line"), (names, libraries, files, lines))
    return {
        **{name: [one[0] for one in part] for name, part in leaves},
        "stack": names,
        "stack_library": libraries,
        "stack_file": files,
        "stack_line": lines,
    }
