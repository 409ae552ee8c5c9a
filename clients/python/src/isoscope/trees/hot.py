"""Hot spots: functions with more than a share of all samples, where in them, and on which way
there.

    Profile -> hot_spots -> [HotSpot], the hottest first
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from ..errors import IsoscopeError
from ..model import Function
from ..profile import Profile
from .calltree import call_tree
from .nodes import Item, Node
from .table import FunctionRow, Table


@dataclass(frozen=True, eq=False)
class HotSpot:
    row: FunctionRow
    share: float  # of all samples
    path: list[Node]  # the busiest way to it, outermost call first; it is the last
    lines: list[tuple[int, int]]  # line, samples in it themselves; the hottest first; 0: not known


@dataclass(frozen=True, eq=False)
class HotSpots:
    spots: list[HotSpot]
    sample_count: int  # of all, hot or not


def hot_spots(profile: Profile, *, threshold: float = 0.05, by: str = "self") -> HotSpots:
    """threshold: a share from 0 to 1. by: "self" or "total"."""
    if by not in ("self", "total"):
        raise IsoscopeError(f"hot by '{by}': it is 'self' or 'total'")
    tree = call_tree(profile)
    rows = Table.of(tree).rows
    counts = {row: row.self_count if by == "self" else row.total_count for row in rows}
    hot = [r for r, count in counts.items() if count and count >= threshold * tree.sample_count]
    hot.sort(key=lambda row: -counts[row])  # stable: self, then total, then name
    ways = _busiest(list(node for node, _ in tree.walk()), by)
    lines = _lines(profile)
    spots = [
        HotSpot(
            row,
            tree.share(counts[row]),
            ways[row.item].path(),
            lines.get(row.function, Counter()).most_common(),
        )
        for row in hot
    ]
    return HotSpots(spots, tree.sample_count)


def _busiest(nodes: list[Node], by: str) -> dict[Item, Node]:
    """Each item's node with the most samples: of several that recur the outermost."""
    best: dict[Item, Node] = {}
    for node in nodes:
        item = node.item.base
        other = best.get(item)
        if other is None or _count(node, by) > _count(other, by):
            best[item] = node
    return best


def _count(node: Node, by: str) -> int:
    return node.self_count if by == "self" else node.total_count


def _lines(profile: Profile) -> dict[Function, Counter[int]]:
    """Own samples by line."""
    lines: dict[Function, Counter[int]] = {}
    for row in Table.of(call_tree(profile, merge="line")).rows:
        if row.self_count:
            lines.setdefault(row.function, Counter())[row.item.line] += row.self_count
    return lines
