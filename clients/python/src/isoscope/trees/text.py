"""A call tree as text for people.

      total     self  call tree                                   library
    100.0 %           spin_two_to_one (4242)
    100.0 %           _start                                      spin_two_to_one
    100.0 %    0.2 %  main                                        spin_two_to_one
     66.5 %   66.5 %  ├─ spin_twice                               spin_two_to_one
     33.3 %   33.3 %  └─ spin_once                                spin_two_to_one

Native stacks are deep and mostly straight, so a function with one callee does not indent it:
only where the ways part the tree goes to the right.

Units    unit: "percent" of all samples of the tree, "samples", or "ms" of CPU time. width: columns;
         None: nothing is cut.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf
from typing import NamedTuple, Optional

from ..text import Style, counted, duration, printable, shorten
from .items import GROUPS
from .nodes import Node, Small, Tree, small_of
from .table import Table

UNITS = ("percent", "samples", "ms")
_NUMBERS_WIDTH = len("100.0 %  100.0 %  ")
_NAME_WIDTH_MIN = 20
_WORTH_A_WORD = 0.01  # of all samples missing or cut
_HOT_SHARE = 0.1  # of all samples in one function itself: worth a second look


class Amount(NamedTuple):
    samples: int
    us: int  # of CPU time


@dataclass(frozen=True)
class Line:
    """One row of any of the tables. Amounts are None where there is nothing to say."""

    total: Optional[Amount]
    self: Optional[Amount]
    name: str
    prefix: str = ""
    library: str = ""
    heading: bool = False


def render_summary(tree: Tree) -> list[str]:
    """How much was seen, and what of it is missing, where that could change a conclusion."""
    groups = f" of {len(tree.roots)} {_root_words(tree)[1]}" if len(tree.roots) > 1 else ""
    # Some files keep no times.
    over = f" over {tree.extent_us / 1e6:.2f} s" if tree.extent_us else ""
    seen = f"{counted(tree.sample_count, 'sample')}{groups}{over}"
    lines = [f"{seen}, one per {_period(tree)} of CPU time"]
    lost = sum(tree.lost.values())
    if lost >= max(1, _WORTH_A_WORD * tree.sample_count):
        causes = ", ".join(f"{cause} {count:,}" for cause, count in tree.lost.most_common())
        lines.append(f"{counted(lost, 'sample')} lost: {causes}")
    if tree.cut_count >= max(1, _WORTH_A_WORD * tree.sample_count):
        share = tree.cut_count / tree.sample_count
        lines.append(f"{_percent(share).strip()} of the stacks lack their outer end")
    return lines


def render_tree(
    tree: Tree,
    style: Style,
    *,
    min_share: float = 0.01,
    depth: Optional[int] = None,
    unit: str = "percent",
) -> list[str]:
    limits = _Limits(min_share * tree.sample_count, depth, _indent_max(style))
    busy = [root for root in tree.roots if root.total_count >= limits.min_count]
    lines = [line for root in busy for line in _tree_lines(root, limits)]
    # Of roots none goes without a word: the summary has counted them.
    least = 0 if tree.roots and tree.roots[0].item.kind in GROUPS else limits.min_count
    lines += _rest(small_of(tree.roots[len(busy) :]), least, *_root_words(tree))
    return _table(tree, tree.title, lines, style, unit)


def _root_words(tree: Tree) -> tuple[str, str]:
    """One of them, and many."""
    kind = tree.roots[0].item.kind if tree.roots else "process"
    return (kind, "processes" if kind == "process" else f"{kind}s")


def render_hot(tree: Tree, style: Style, count: int, unit: str = "percent") -> list[str]:
    rows = [row for row in Table.of(tree).rows[:count] if row.self_count]
    lines = [
        Line(
            Amount(row.total_count, row.total_us),
            Amount(row.self_count, row.self_us),
            row.name,
            library=row.library,
        )
        for row in rows
    ]
    return _table(tree, "hottest functions, by self", lines, style, unit)


def render_path(tree: Tree, style: Style, unit: str = "percent") -> list[str]:
    path = tree.hot_path()
    lines = [_line(node) for node in path]
    if path and path[-1].busy_children(inf)[1].nodes:
        lines.append(_spread(path[-1]))
    return _table(tree, "hot path, outermost call first", lines, style, unit)


@dataclass(frozen=True)
class _Limits:
    min_count: float  # samples; what has fewer is counted, not shown
    depth: Optional[int]
    indent_max: int


# A line, the node whose children come below it (None: nothing does), and their indent.
_Waiting = tuple[Line, Optional[Node], str]


def _tree_lines(root: Node, limits: _Limits) -> list[Line]:
    lines: list[Line] = []
    waiting: list[_Waiting] = [(_line(root), root, "")]
    while waiting:
        line, node, indent = waiting.pop()
        lines.append(line)
        if node is not None:
            waiting.extend(reversed(_below(node, indent, limits)))
    return lines


def _below(node: Node, indent: str, limits: _Limits) -> list[_Waiting]:
    shown, small = node.busy_children(limits.min_count)
    at_depth = limits.depth is not None and node.depth >= limits.depth
    if shown and (at_depth or len(indent) > limits.indent_max):
        return [(_deeper(node, indent), None, "")]
    entries: list[tuple[Line, Optional[Node]]] = [(_line(c), c) for c in shown]
    rest = _rest(small, limits.min_count, "function", "functions")
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
        f"{node.name} (inlined)" if node.inlined else node.name,
        library=node.library,
        heading=is_root,
    )


def _deeper(node: Node, indent: str) -> Line:
    return Line(_below_it(node), None, "... deeper", prefix=indent)


def _spread(node: Node) -> Line:
    callees = counted(node.busy_children(inf)[1].nodes, "callee")
    return Line(_below_it(node), None, f"... spread over {callees}")


def _below_it(node: Node) -> Amount:
    below = node.busy_children(inf)[1]
    return Amount(below.samples, below.us)


def _rest(small: Small, least: float, one: str, many: str) -> list[Line]:
    """One line for all that is too small for its own, where together they have as much as that."""
    if not small.nodes or small.samples < least:
        return []
    name = f"... {small.nodes} smaller {one if small.nodes == 1 else many}"
    return [Line(Amount(small.samples, small.us), None, name)]


def _indent_max(style: Style) -> int:
    """Beyond it, names would keep less than half of their column."""
    if style.width is None:
        return 1 << 30
    return max(9, (style.width - _NUMBERS_WIDTH) // 4)


def _table(tree: Tree, title: str, lines: list[Line], style: Style, unit: str) -> list[str]:
    # Of the whole: no number is wider.
    width = max(7, len(_number(Amount(tree.sample_count, tree.cpu_us), tree, unit)))
    library_width = max([len("library")] + [len(line.library) for line in lines])
    name_width = max([len(title)] + [len(line.prefix) + len(line.name) for line in lines])
    if style.width is not None:
        room = style.width - _NUMBERS_WIDTH - len("  ")
        library_width = min(library_width, max(room // 3, len("library")))
        name_width = min(name_width, max(room - library_width, _NAME_WIDTH_MIN))
    heading = f"{'total':>{width}}  {'self':>{width}}  {title:<{name_width}}  library"
    rows = []
    for line in lines:
        total, own = (_number(a, tree, unit).rjust(width) for a in (line.total, line.self))
        hot = line.self is not None and line.self.samples >= _HOT_SHARE * tree.sample_count
        rows.append(_row(line, total, own, hot, name_width, library_width, style))
    return [style.dim(heading), *rows]


def _row(
    line: Line, total: str, own: str, hot: bool, name_width: int, library_width: int, style: Style
) -> str:
    name = shorten(printable(line.name), name_width - len(line.prefix))
    padding = " " * max(0, name_width - len(line.prefix) - len(name))
    library = shorten(printable(line.library), library_width)
    if hot or line.heading:
        name, own = style.bold(name), style.bold(own)
    text = f"{total}  {own}  {style.dim(line.prefix)}{name}"
    return f"{text}{padding}  {style.dim(library)}" if library else text


def _number(amount: Optional[Amount], tree: Tree, unit: str) -> str:
    """Nothing where it is none: a column of zeros hides what is there."""
    if amount is None or not amount.samples:
        return ""
    if unit == "samples":
        return f"{amount.samples:,}"
    if unit == "ms":
        return f"{amount.us / 1000:,.1f}"
    return _percent(tree.share(amount.samples))


def _percent(share: float) -> str:
    return f"{share * 100:5.1f} %"


def _period(tree: Tree) -> str:
    if tree.true_period_us <= tree.period_us:
        return duration(tree.period_us)
    return f"{duration(tree.true_period_us)} ({duration(tree.period_us)} was asked for)"

