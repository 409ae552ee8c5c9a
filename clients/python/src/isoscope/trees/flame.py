"""Where the boxes of a flame graph stand: pure data, for whoever draws.

    Tree -> layout -> rows of boxes; row 0 holds the roots, row n + 1 what row n calls

Units    start, width: samples, or microseconds of CPU time where `weight` is "cpu"; "": as the tree
         is weighed. The whole graph is from 0 to Layout.width. Children stand side by side under their parent from its start
         on; what is left at the right is the parent's self.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable, Iterator

from ..errors import IsoscopeError
from .nodes import Node, Tree

ORDERS: dict[str, Callable[[Node], list[Node]]] = {
    "weight": Node.sorted_children,  # the busiest at the left
    "name": lambda node: sorted(node.children.values(), key=lambda n: (n.name, n.key, n.inlined)),
}


@dataclass(frozen=True, eq=False)
class Box:
    node: Node
    row: int
    start: int
    width: int


@dataclass(frozen=True, eq=False)
class Layout:
    rows: list[list[Box]]  # from left to right
    width: int
    dropped: int  # boxes that were too narrow; what is below them is not even counted

    def boxes(self) -> Iterator[Box]:
        for row in self.rows:
            yield from row


def layout(
    tree: Tree, *, weight: str = "", order: str = "weight", min_share: float = 0.0
) -> Layout:
    """min_share: of the whole width; a narrower box is left out with all that is below it."""
    if weight not in ("", "samples", "cpu") or order not in ORDERS:
        raise IsoscopeError(f"no flame graph by weight '{weight}' in the order '{order}'")
    wide = _time_us if weight == "cpu" or (not weight and tree.by_time) else _count
    whole = sum(wide(root) for root in tree.roots)
    rows: list[list[Box]] = []
    dropped = start = 0
    waiting: list[Box] = []
    for root in tree.roots:
        waiting.append(Box(root, 0, start, wide(root)))
        start += wide(root)
    while waiting:
        below: list[Box] = []
        shown = [box for box in waiting if box.width and box.width >= min_share * whole]
        dropped += len(waiting) - len(shown)
        for box in shown:
            start = box.start
            for child in ORDERS[order](box.node):
                below.append(Box(child, box.row + 1, start, wide(child)))
                start += wide(child)
        if shown:
            rows.append(shown)
        waiting = below
    return Layout(rows, whole, dropped)


def _count(node: Node) -> int:
    return node.total_count


def _time_us(node: Node) -> int:
    return node.total_us
