"""A call tree as text for people.

      total     self  call tree                                   library
    100.0 %           spin_two_to_one (4242)
    100.0 %           _start                                      spin_two_to_one
    100.0 %    0.2 %  main                                        spin_two_to_one
     66.5 %   66.5 %  ├─ spin_twice                               spin_two_to_one
     33.3 %   33.3 %  └─ spin_once                                spin_two_to_one

Native stacks are deep and mostly straight, so a function with one callee does not indent it:
only where the ways part the tree goes to the right.

Units    unit: "percent" of all of the tree, by its weight, "samples", or "ms" of CPU time. width:
         columns; None: nothing is cut.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf
from typing import NamedTuple, Optional

from ..model import KINDS
from ..text import Style, counted, duration, printable, shorten, shorten_left, size, weight_text
from .function_table import Table
from .items import GROUPS
from .nodes import Node, Small, Tree, small_of
from .unnamed import advice

UNITS = ("percent", "samples", "ms", "bytes")
_NUMBERS_WIDTH = len("100.0 %  100.0 %  ")
_NAME_WIDTH_MIN = 20
_INLINED = " (inlined)"
_WORTH_A_WORD = 0.01  # of all samples missing or cut
_HOT_SHARE = 0.1  # of all in one function itself: worth a second look


# Where stacks end in code that a runtime made: what helps. As sampler/profile/runtimes.h has it.
RUNTIMES = {
    "java": "  Java: start it with -XX:+PreserveFramePointer, and ask it for a perf map early on "
    "(jcmd PID Compiler.perfmap)",
    "erlang": "  Erlang: start it with erl +JPperf true, as isoscope run --runtime-options auto does",
    "luajit": "  LuaJIT: start it with luajit -joff",
    "mono": "  Mono: start it with mono --jitmap",
    "guile": "  Guile: start it with GUILE_JIT_THRESHOLD=-1 in its environment",
    "dotnet": "  .NET: start it with DOTNET_PerfMapEnabled=1 in its environment, as isoscope run --runtime-options "
    "auto does",
    "go": "  Go: build it without -ldflags=-s and -w",
}


class Amount(NamedTuple):
    samples: int
    us: int  # of CPU time

    def weight(self, tree: Tree) -> int:
        return self.us if tree.by_time else self.samples


@dataclass(frozen=True)
class Line:
    """One row of any of the tables. Amounts are None where there is nothing to say."""

    total: Optional[Amount]
    self: Optional[Amount]
    name: str
    prefix: str = ""
    library: str = ""
    heading: bool = False
    is_function: bool = False  # its name is shortened as functions' are


def render_summary(tree: Tree) -> list[str]:
    """How much was seen, and what of it is missing, where that could change a conclusion."""
    groups = f" of {len(tree.roots)} {_root_words(tree)[1]}" if len(tree.roots) > 1 else ""
    # Some files keep no times.
    over = f" over {tree.extent_us / 1e6:.2f} s" if tree.extent_us else ""
    seen = f"{counted(tree.sample_count, 'sample')}{groups}{over}"
    lines = [f"{seen}{_of_many(tree) if tree.is_many else _of_time(tree)}"]
    lost = sum(tree.lost.values())
    if lost >= max(1, _WORTH_A_WORD * tree.sample_count):
        causes = ", ".join(f"{cause} {count:,}" for cause, count in tree.lost.most_common())
        lines.append(f"{counted(lost, 'sample')} lost: {causes}")
    if tree.cut_count >= max(1, _WORTH_A_WORD * tree.sample_count):
        share = tree.cut_count / tree.sample_count
        lines.append(f"{_percent(share).strip()} of the stacks are truncated: they do not reach the "
                     "thread's start")
        lines += [RUNTIMES[runtime] for runtime in sorted(tree.runtimes) if runtime in RUNTIMES]
    return lines + advice(tree)


def _of_time(tree: Tree) -> str:
    cpu = f", {tree.cpu_us / 1000:,.1f} ms of CPU time:" if tree.by_time else ","
    return f"{cpu} one per {_period(tree)}"


def _of_many(tree: Tree) -> str:
    kind = KINDS[tree.kind]
    amount = weight_text(tree.cpu_us, kind.unit)
    error = f" (± {100 * tree.error:.1f} %)" if tree.sample_count else ""
    if kind.is_counted:
        return f", {amount} {kind.many}{error}"
    return f", {amount} {kind.amount}{error}, about {tree.objects:,.0f} {kind.many}"


def render_tree(
    tree: Tree,
    style: Style,
    *,
    min_share: float = 0.01,
    depth: Optional[int] = None,
    unit: str = "percent",
) -> list[str]:
    limits = _Limits(min_share * tree.weight, depth, _indent_max(style))
    busy = [root for root in tree.roots if root.total_weight >= limits.least]
    lines = [line for root in busy for line in _tree_lines(tree, root, limits)]
    # Of roots none goes without a word: the summary has counted them.
    least = 0 if tree.roots and tree.roots[0].item.kind in GROUPS else limits.least
    lines += _rest(tree, small_of(tree.roots[len(busy) :]), least, *_root_words(tree))
    return _table(tree, tree.title, lines, style, unit)


def _root_words(tree: Tree) -> tuple[str, str]:
    """One of them, and many."""
    kind = tree.roots[0].item.kind if tree.roots else "process"
    return (kind, "processes" if kind == "process" else f"{kind}s")


def render_hot(tree: Tree, style: Style, count: int, unit: str = "percent") -> list[str]:
    rows = [row for row in Table.of(tree).rows[:count] if row.self_weight]
    lines = [
        Line(
            Amount(row.total_count, row.total_us),
            Amount(row.self_count, row.self_us),
            row.name,
            library=row.library,
            is_function=True,
        )
        for row in rows
    ]
    return _table(tree, "hottest functions by self", lines, style, unit)


def render_path(tree: Tree, style: Style, unit: str = "percent") -> list[str]:
    path = tree.hot_path()
    lines = [_line(node) for node in path]
    if path and path[-1].busy_children(inf)[1].nodes:
        lines.append(_spread(path[-1]))
    return _table(tree, "hot path from the root", lines, style, unit)


@dataclass(frozen=True)
class _Limits:
    least: float  # by weight; what has less is summed up, not shown
    depth: Optional[int]
    indent_max: int


# A line, the node whose children come below it (None: nothing does), and their indent.
_Waiting = tuple[Line, Optional[Node], str]


def _tree_lines(tree: Tree, root: Node, limits: _Limits) -> list[Line]:
    lines: list[Line] = []
    waiting: list[_Waiting] = [(_line(root), root, "")]
    while waiting:
        line, node, indent = waiting.pop()
        lines.append(line)
        if node is not None:
            waiting.extend(reversed(_below(tree, node, indent, limits)))
    return lines


def _below(tree: Tree, node: Node, indent: str, limits: _Limits) -> list[_Waiting]:
    shown, small = node.busy_children(limits.least)
    at_depth = limits.depth is not None and node.depth >= limits.depth
    if shown and (at_depth or len(indent) > limits.indent_max):
        return [(_deeper(node, indent), None, "")]
    entries: list[tuple[Line, Optional[Node]]] = [(_line(c), c) for c in shown]
    rest = _rest(tree, small, limits.least, "function", "functions")
    entries += [(line, None) for line in rest]
    if len(entries) == 1:
        line, child = entries[0]
        return [(replace(line, prefix=indent), child, indent)]
    return [
        (replace(line, prefix=indent + "├─ "), child, indent + "│  ")
        for line, child in entries[:-1]
    ] + [
        (replace(line, prefix=indent + "└─ "), child, indent + "   ")
        for line, child in entries[-1:]
    ]


def _line(node: Node) -> Line:
    is_root = node.item.kind in GROUPS
    return Line(
        Amount(node.total_count, node.total_us),
        Amount(node.self_count, node.self_us),
        f"{node.name}{_INLINED}" if node.inlined else node.name,
        library=node.library,
        heading=is_root,
        is_function=node.function is not None,
    )


def _deeper(node: Node, indent: str) -> Line:
    return Line(_below_it(node), None, "... deeper", prefix=indent)


def _spread(node: Node) -> Line:
    callees = counted(node.busy_children(inf)[1].nodes, "callee")
    return Line(_below_it(node), None, f"... {callees}")


def _below_it(node: Node) -> Amount:
    below = node.busy_children(inf)[1]
    return Amount(below.samples, below.us)


def _rest(tree: Tree, small: Small, least: float, one: str, many: str) -> list[Line]:
    """One line for all that is too small for its own, where together they have as much as that."""
    amount = Amount(small.samples, small.us)
    if not small.nodes or amount.weight(tree) < least:
        return []
    name = f"... {small.nodes} smaller {one if small.nodes == 1 else many}"
    return [Line(amount, None, name)]


def _indent_max(style: Style) -> int:
    """Beyond it, names would keep less than half of their column."""
    if style.width is None:
        return 1 << 30
    return max(9, (style.width - _NUMBERS_WIDTH) // 4)


def _table(tree: Tree, title: str, lines: list[Line], style: Style, unit: str) -> list[str]:
    # Of the whole: no number is wider.
    width = max(7, len(_number(Amount(tree.sample_count, tree.cpu_us), tree, unit)))
    library_width = max([len("library")] + [len(line.library) for line in lines])
    if style.names is not None:
        lines = [replace(line, name=_fitted(line, style)) for line in lines]
    name_width = max([len(title)] + [len(line.prefix) + len(line.name) for line in lines])
    if style.width is not None:
        room = style.width - _NUMBERS_WIDTH - len("  ")
        least = max(room // 3, room - name_width, len("library"))
        library_width = min(library_width, least)
        name_width = min(name_width, max(room - library_width, _NAME_WIDTH_MIN))
    heading = f"{'total':>{width}}  {'self':>{width}}  {title:<{name_width}}  library"
    rows = []
    for line in lines:
        total, own = (_number(a, tree, unit).rjust(width) for a in (line.total, line.self))
        hot = line.self is not None and line.self.weight(tree) >= _HOT_SHARE * tree.weight
        rows.append(_row(line, total, own, hot, name_width, library_width, style))
    return [style.dim(heading), *rows]


def _row(
    line: Line, total: str, own: str, hot: bool, name_width: int, library_width: int, style: Style
) -> str:
    name = _fitted(line, style, name_width - len(line.prefix))
    padding = " " * max(0, name_width - len(line.prefix) - len(name))
    library = shorten_left(printable(line.library), library_width)
    if hot:
        name, own = style.bold(name), style.hot(own)
    elif line.heading:
        name = style.bold(name)
    text = f"{total}  {own}  {style.dim(line.prefix)}{name}"
    return f"{text}{padding}  {style.dim(library)}" if library else text


def _fitted(line: Line, style: Style, room: Optional[int] = None) -> str:
    if line.is_function:
        return style.function(line.name, room)
    return printable(line.name) if room is None else shorten(printable(line.name), room)


def _number(amount: Optional[Amount], tree: Tree, unit: str) -> str:
    """Nothing where it is none: a column of zeros hides what is there."""
    if amount is None or not amount.samples:
        return ""
    if unit == "samples":
        return f"{amount.samples:,}"
    if unit == "ms":
        return f"{amount.us / 1000:,.1f}"
    if unit == "bytes":
        return size(amount.us)
    return _percent(tree.share(amount.weight(tree)))


def _percent(share: float) -> str:
    return f"{share * 100:5.1f} %"


def _period(tree: Tree) -> str:
    if tree.true_period_us <= tree.period_us:
        return duration(tree.period_us)
    return f"{duration(tree.true_period_us)} ({duration(tree.period_us)} requested)"

