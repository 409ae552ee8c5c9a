"""A call tree as text for people.

      total     self  call tree                                   library
    100.0 %           spin_two_to_one (4242)
    100.0 %           _start                                      spin_two_to_one
    100.0 %    0.2 %  main                                        spin_two_to_one
     66.5 %   66.5 %  ├─ spin_twice                               spin_two_to_one
     33.3 %   33.3 %  └─ spin_once                                spin_two_to_one

Native stacks are deep and mostly straight, so a function with one callee does not indent it:
only where the ways part the tree goes to the right.

Units    Shares are of all samples of the tree. width: columns; None: nothing is cut.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Optional

from ..text import Style, counted, duration, printable, shorten
from .items import GROUPS
from .nodes import Node, Tree
from .table import Table

_NUMBERS_WIDTH = len("100.0 %  100.0 %  ")
_NAME_WIDTH_MIN = 20
_WORTH_A_WORD = 0.01  # of all samples missing or cut
_HOT_SHARE = 0.1  # of all samples in one function itself: worth a second look


@dataclass(frozen=True)
class Line:
    """One row of any of the tables. Shares are None where there is nothing to say."""

    total: Optional[float]
    self: Optional[float]
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
    tree: Tree, style: Style, *, min_share: float = 0.01, depth: Optional[int] = None
) -> list[str]:
    limits = _Limits(min_share * tree.sample_count, depth, _indent_max(style))
    busy = [root for root in tree.roots if root.total_count >= limits.min_count]
    lines = [line for root in busy for line in _tree_lines(tree, root, limits)]
    small = _rest(tree, tree.roots, busy, limits, *_root_words(tree))
    return _table(tree.title, lines + small, style)


def _root_words(tree: Tree) -> tuple[str, str]:
    """One of them, and many."""
    kind = tree.roots[0].item.kind if tree.roots else "process"
    return (kind, "processes" if kind == "process" else f"{kind}s")


def render_hot(tree: Tree, style: Style, count: int) -> list[str]:
    rows = [row for row in Table.of(tree).rows[:count] if row.self_count]
    lines = [
        Line(
            row.total_count / tree.sample_count,
            row.self_count / tree.sample_count,
            row.name,
            library=row.library,
        )
        for row in rows
    ]
    return _table("hottest functions, by self", lines, style)


def render_path(tree: Tree, style: Style) -> list[str]:
    path = tree.hot_path()
    lines = [_line(tree, node) for node in path]
    if path and path[-1].children:
        lines.append(_spread(tree, path[-1]))
    return _table("hot path, outermost call first", lines, style)


@dataclass(frozen=True)
class _Limits:
    min_count: float  # samples; what has fewer is counted, not shown
    depth: Optional[int]
    indent_max: int


# A line, the node whose children come below it (None: nothing does), and their indent.
_Waiting = tuple[Line, Optional[Node], str]


def _tree_lines(tree: Tree, root: Node, limits: _Limits) -> list[Line]:
    lines: list[Line] = []
    waiting: list[_Waiting] = [(_line(tree, root), root, "")]
    while waiting:
        line, node, indent = waiting.pop()
        lines.append(line)
        if node is not None:
            waiting.extend(reversed(_below(tree, node, indent, limits)))
    return lines


def _below(tree: Tree, node: Node, indent: str, limits: _Limits) -> list[_Waiting]:
    children = node.sorted_children()
    shown = [child for child in children if child.total_count >= limits.min_count]
    at_depth = limits.depth is not None and node.depth >= limits.depth
    if shown and (at_depth or len(indent) > limits.indent_max):
        return [(_deeper(tree, children, indent), None, "")]
    entries: list[tuple[Line, Optional[Node]]] = [(_line(tree, c), c) for c in shown]
    rest = _rest(tree, children, shown, limits, "function", "functions")
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


def _line(tree: Tree, node: Node) -> Line:
    is_root = node.item.kind in GROUPS
    return Line(
        node.total_count / tree.sample_count,
        None if is_root and not node.self_count else node.self_count / tree.sample_count,
        f"{node.name} (inlined)" if node.inlined else node.name,
        library=node.library,
        heading=is_root,
    )


def _deeper(tree: Tree, children: list[Node], indent: str) -> Line:
    count = sum(child.total_count for child in children)
    return Line(count / tree.sample_count, None, "... deeper", prefix=indent)


def _spread(tree: Tree, node: Node) -> Line:
    share = (node.total_count - node.self_count) / tree.sample_count
    callees = counted(len(node.children), "callee")
    return Line(share, None, f"... spread over {callees}")


def _rest(
    tree: Tree, nodes: list[Node], shown: list[Node], limits: _Limits, one: str, many: str
) -> list[Line]:
    """One line for all that is too small for its own, where together they are not."""
    small = len(nodes) - len(shown)
    count = sum(n.total_count for n in nodes) - sum(n.total_count for n in shown)
    if not small or count < limits.min_count:
        return []
    name = f"... {small} smaller {one if small == 1 else many}"
    return [Line(count / tree.sample_count, None, name)]


def _indent_max(style: Style) -> int:
    """Beyond it, names would keep less than half of their column."""
    if style.width is None:
        return 1 << 30
    return max(9, (style.width - _NUMBERS_WIDTH) // 4)


def _table(title: str, lines: list[Line], style: Style) -> list[str]:
    library_width = max([len("library")] + [len(line.library) for line in lines])
    name_width = max([len(title)] + [len(line.prefix) + len(line.name) for line in lines])
    if style.width is not None:
        room = style.width - _NUMBERS_WIDTH - len("  ")
        library_width = min(library_width, max(room // 3, len("library")))
        name_width = min(name_width, max(room - library_width, _NAME_WIDTH_MIN))
    heading = f"{'total':>7}  {'self':>7}  {title:<{name_width}}  library"
    return [style.dim(heading)] + [_row(li, name_width, library_width, style) for li in lines]


def _row(line: Line, name_width: int, library_width: int, style: Style) -> str:
    name = shorten(printable(line.name), name_width - len(line.prefix))
    padding = " " * max(0, name_width - len(line.prefix) - len(name))
    library = shorten(printable(line.library), library_width)
    own = _percent(line.self)
    hot = line.self is not None and line.self >= _HOT_SHARE
    if hot or line.heading:
        name, own = style.bold(name), style.bold(own)
    text = f"{_percent(line.total)}  {own}  {style.dim(line.prefix)}{name}"
    return f"{text}{padding}  {style.dim(library)}" if library else text


def _percent(share: Optional[float]) -> str:
    return f"{share * 100:5.1f} %" if share else " " * 7


def _period(tree: Tree) -> str:
    if tree.true_period_us <= tree.period_us:
        return duration(tree.period_us)
    return f"{duration(tree.true_period_us)} ({duration(tree.period_us)} was asked for)"

