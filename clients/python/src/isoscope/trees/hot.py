"""Hot spots: functions with more than a share of all samples, where in them, and on which way
there.

    Profile -> hot_spots -> [HotSpot], the hottest first
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import Iterable, Sequence

from ..errors import IsoscopeError
from ..model import Function
from ..profile import Profile
from .calltree import CallTree, call_tree
from .columns import Columns
from .item import Item
from .nodes import Node, Place, Tree
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
    tree: CallTree  # of all, hot or not

    @property
    def sample_count(self) -> int:
        return self.tree.sample_count


def hot_spots(profile: Profile, *, threshold: float = 0.05, by: str = "self") -> HotSpots:
    """threshold: a share from 0 to 1. by: "self" or "total"."""
    if by not in ("self", "total"):
        raise IsoscopeError(f"hot by '{by}': it is 'self' or 'total'")
    tree = call_tree(profile)
    rows = Table.of(tree).rows
    counts = {row: row.self_count if by == "self" else row.total_count for row in rows}
    hot = [r for r, count in counts.items() if count and count >= threshold * tree.sample_count]
    hot.sort(key=lambda row: -counts[row])  # stable: self, then total, then name
    columns = tree.columns
    ways = _busiest(columns, columns.self_counts if by == "self" else columns.total_counts, hot)
    lines = _lines(profile)
    spots = [
        HotSpot(
            row,
            tree.share(counts[row]),
            _path(tree, ways[row.item]),
            sorted(lines[row.function].items(), key=lambda line: (-line[1], line[0])),
        )
        for row in hot
    ]
    return HotSpots(spots, tree)


def _busiest(
    columns: Columns, counts: Sequence[int], rows: Iterable[FunctionRow]
) -> dict[Item, int]:
    """Each function's node with the most samples: of several that recur the outermost."""
    wanted = {row.item for row in rows}
    of_item = [item.base if item.base in wanted else None for item in columns.items]
    best: dict[Item, int] = {}
    most: dict[Item, int] = dict.fromkeys(wanted, -1)
    for node in range(1, len(columns)):
        item, count = of_item[columns.item_numbers[node]], counts[node]
        if item is not None and count > most[item]:  # callers come first
            most[item], best[item] = count, node
    return best


def _path(tree: Tree, node: int) -> list[Node]:
    """From its root down to it."""
    numbers = []
    while node:
        numbers.append(node)
        node = tree.columns.parents[node]
    return [Place(tree.columns, number, depth) for depth, number in enumerate(numbers[::-1])]


def _lines(profile: Profile) -> dict[Function, Counter[int]]:
    """Own samples by line."""
    counts = Counter(map(profile.node_frames.__getitem__, profile.nodes))
    lines: dict[Function, Counter[int]] = defaultdict(Counter)
    for number, count in counts.items():
        frame = profile.frames[number]
        lines[frame.function][frame.line] += count
    return lines
