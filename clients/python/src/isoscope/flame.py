"""Where the boxes of a flame graph stand, as plain data: for pictures, pages and tests.

    Profile -> layout -> Flame (columns: a box a call path) -> formats/svg.py, formats/html.py

Box 0 is everything; below it stand the processes where there are several, and then functions, the
outermost first. A box stands below its caller (row + 1), within its width; siblings from the widest
on, then by name. Callers come before callees, and within a row boxes go from left to right.

Units    starts, widths, selves: samples, or microseconds of CPU time.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Optional, Sequence

from .model import Function, Process
from .profile import Profile
from .stacks import FunctionTree


@dataclass
class Flame:
    """Entry i of each column belongs to box i."""

    rows: list[int] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    widths: list[int] = field(default_factory=list)
    selves: list[int] = field(default_factory=list)  # of the width, what no callee has
    functions: list[Optional[Function]] = field(default_factory=list)  # None: a process, or all
    inlined: list[bool] = field(default_factory=list)
    processes: list[Optional[Process]] = field(default_factory=list)  # None: all

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def total(self) -> int:
        return self.widths[0]

    @property
    def depth(self) -> int:
        """How many rows there are."""
        return max(self.rows) + 1


def layout(profile: Profile, weights: Optional[Sequence[int]] = None) -> Flame:
    """weights: of the samples; None: each counts 1."""
    tree = FunctionTree(profile, inlined_apart=True)
    sums: dict[Process, dict[int, int]] = {}
    for place, node in enumerate(profile.nodes):
        mine = sums.setdefault(profile.threads[profile.sample_threads[place]].process, {})
        weight = 1 if weights is None else weights[place]
        mine[tree.of[node]] = mine.get(tree.of[node], 0) + weight
    totals = {process: sum(own.values()) for process, own in sums.items()}
    flame = Flame()
    whole = sum(totals.values())
    _put(flame, 0, 0, whole, 0, None, None)
    start, many = 0, len(sums) > 1
    for process in sorted(sums, key=lambda p: (-totals[p], p.name, p.id)):
        if many and totals[process]:
            _put(flame, 1, start, totals[process], 0, None, process)
        _place(flame, tree, process, sums[process], start, 2 if many else 1)
        start += totals[process]
    return flame


def _place(
    flame: Flame, tree: FunctionTree, process: Process, own: dict[int, int], start: int, row: int
) -> None:
    """The boxes of one process' functions, without recursion: stacks may be deep."""
    widths = dict(own)
    children: dict[int, list[int]] = {}
    for node in range(len(tree.callers) - 1, 0, -1):  # callees come after their callers
        if widths.get(node):
            caller = tree.callers[node]
            widths[caller] = widths.get(caller, 0) + widths[node]
            children.setdefault(caller, []).append(node)
    waiting = _beside(tree, children.get(0, []), widths, start, row)
    while waiting:
        node, start, row = waiting.pop()
        function, inlined = tree.functions[node - 1], tree.inlined[node - 1]
        _put(flame, row, start, widths[node], own.get(node, 0), function, process, inlined)
        waiting += _beside(tree, children.get(node, []), widths, start, row + 1)


def _beside(
    tree: FunctionTree, nodes: list[int], widths: dict[int, int], start: int, row: int
) -> list[tuple[int, int, int]]:
    """Siblings with their starts, the leftmost last."""

    def order(node: int) -> tuple[int, str, str, bool]:
        function, inlined = tree.functions[node - 1], tree.inlined[node - 1]
        library = function.library.name if function.library else ""
        return -widths[node], function.name, library, inlined

    found = []
    for node in sorted(nodes, key=order):
        found.append((node, start, row))
        start += widths[node]
    return found[::-1]


def _put(
    flame: Flame,
    row: int,
    start: int,
    width: int,
    own: int,
    function: Optional[Function],
    process: Optional[Process],
    inlined: bool = False,
) -> None:
    flame.rows.append(row)
    flame.starts.append(start)
    flame.widths.append(width)
    flame.selves.append(own)
    flame.functions.append(function)
    flame.processes.append(process)
    flame.inlined.append(inlined)
