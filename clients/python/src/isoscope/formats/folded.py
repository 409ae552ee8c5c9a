"""Folded stacks, as flamegraph.pl began them: `main;parse;lex 42`, one line a distinct stack.

Lost: threads and processes, time, tags, lines, libraries, which frames were inlined, cut stacks.
The unit of the number is not in the file: microseconds of CPU time, or samples.

Reading takes a sum from 200,000 to 36,000,000,000 for microseconds: nobody has counted so many
samples, and ten hours are no profile's. Shares are the same either way.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import BinaryIO

from ..errors import BadFile
from ..model import Function, Process
from ..profile import Profile
from ..stacks import FunctionTree
from .common import AUTO, UTF8, one_line, repeated, weight_of

_LINE = re.compile(r"(.*\S)\s+(\d+)")
_TIME_LEAST, _TIME_MOST = 200_000, 36_000_000_000


def write(profile: Profile, out: BinaryIO, *, weight: str = AUTO) -> None:
    tree = FunctionTree(profile)
    counts: Counter[int] = Counter()
    for node, count in zip(profile.nodes, weight_of(profile, weight)):
        counts[tree.of[node]] += count
    # Two functions may have one name: their stacks are one line.
    lines: Counter[str] = Counter()
    for node, count in counts.items():
        lines[";".join(_name(function.name) for function in tree.stack(node))] += count
    for stack, count in sorted(lines.items()):
        if count:
            out.write(f"{stack} {count}\n".encode(*UTF8))


def _name(name: str) -> str:
    """A semicolon would be another frame."""
    return one_line(name).replace(";", ":")


def knows(text: str) -> bool:
    """Whether the first line is a stack and a number."""
    lines = (line.rstrip() for line in text.splitlines() if line.strip() and line[0] != "#")
    return _LINE.fullmatch(next(lines, "")) is not None


def read(text: str) -> Profile:
    profile = Profile()
    stacks = [_stack(number, line) for number, line in enumerate(text.splitlines(), 1)]
    total = sum(count for _, count in filter(None, stacks))
    is_time = _TIME_LEAST <= total <= _TIME_MOST
    thread = profile.thread(Process("isolates/0", "process"), 0)
    functions: dict[str, Function] = {}
    for names, count in filter(None, stacks):
        node = 0
        for name in names.split(";"):
            function = functions.setdefault(name, Function(str(len(functions)), name, None))
            node = profile.node(node, profile.frame(function))
        for _ in range(1) if is_time else repeated(count, profile):
            profile.add_sample(0, thread, node, weight_us=count if is_time else 0)
    return profile


def _stack(number: int, line: str) -> tuple[str, int] | None:
    """None: a line that holds none."""
    if not line.strip() or line.startswith("#"):
        return None
    found = _LINE.fullmatch(line.rstrip())
    if not found:
        raise BadFile(f"line {number} is not a stack and a number")
    return found[1], int(found[2])
