"""Folded stacks, as flamegraph.pl began them: `main;parse;lex 42`, one line a distinct stack.

Lost: threads and processes, time, tags, lines, libraries, which frames were inlined, cut stacks.
The unit of the number is not in the file: samples, or microseconds of CPU time.
"""

from __future__ import annotations

from collections import Counter
from typing import BinaryIO

from ..profile import Profile
from ..stacks import FunctionTree
from .common import SAMPLES, UTF8, one_line, weight_of


def write(profile: Profile, out: BinaryIO, *, weight: str = SAMPLES) -> None:
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
