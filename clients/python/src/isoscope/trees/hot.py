"""Hot spots: functions with more than a share of all, where in them, and on which way
there.

    Profile -> hot_spots -> [HotSpot], the hottest first
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import Iterable, NamedTuple, Sequence

from ..errors import IsoscopeError
from ..model import Function
from ..profile import Profile
from .calltree import CallTree, call_tree
from .columns import Columns
from .function_table import FunctionRow, Table
from .item import Item
from .nodes import Node, Place, Tree


class HotLine(NamedTuple):
    line: int  # 0: not known
    self_count: int
    self_us: int


@dataclass(frozen=True, eq=False)
class HotSpot:
    row: FunctionRow
    share: float  # by the tree's weight
    path: list[Node]  # the busiest way to it, outermost call first; it is the last
    lines: list[HotLine]  # the hottest first


@dataclass(frozen=True, eq=False)
class HotSpots:
    spots: list[HotSpot]
    tree: CallTree  # of all, hot or not


def hot_spots(
    profile: Profile, *, threshold: float = 0.05, by: str = "self", weight: str = ""
) -> HotSpots:
    """threshold: a share from 0 to 1. by: "self" or "total". weight: as call_tree has it."""
    if by not in ("self", "total"):
        raise IsoscopeError(f"hot by '{by}': it is 'self' or 'total'")
    tree = call_tree(profile, weight=weight)
    rows = Table.of(tree).rows
    weights = {row: row.self_weight if by == "self" else row.total_weight for row in rows}
    hot = [r for r, mine in weights.items() if mine and mine >= threshold * tree.weight]
    hot.sort(key=lambda row: -weights[row])  # stable: self, then total, then name
    columns = tree.columns
    ways = _busiest(columns, columns.selves if by == "self" else columns.totals, hot)
    lines = _lines(profile)
    lightness = _less_time if tree.by_time else _less_samples
    spots = [
        HotSpot(
            row,
            tree.share(weights[row]),
            _path(tree, ways[row.item]),
            sorted(lines[row.function], key=lightness),
        )
        for row in hot
    ]
    return HotSpots(spots, tree)


def _busiest(
    columns: Columns, weights: Sequence[int], rows: Iterable[FunctionRow]
) -> dict[Item, int]:
    """Each function's busiest node: of several that recur the outermost."""
    wanted = {row.item for row in rows}
    of_item = [item.base if item.base in wanted else None for item in columns.items]
    best: dict[Item, int] = {}
    most: dict[Item, int] = dict.fromkeys(wanted, -1)
    for node in range(1, len(columns)):
        item, weight = of_item[columns.item_numbers[node]], weights[node]
        if item is not None and weight > most[item]:  # callers come first
            most[item], best[item] = weight, node
    return best


def _path(tree: Tree, node: int) -> list[Node]:
    """From its root down to it."""
    numbers = []
    while node:
        numbers.append(node)
        node = tree.columns.parents[node]
    return [Place(tree.columns, number, depth) for depth, number in enumerate(numbers[::-1])]


def _less_samples(line: HotLine) -> tuple[int, int]:
    return -line.self_count, line.line


def _less_time(line: HotLine) -> tuple[int, int]:
    return -line.self_us, line.line


def _lines(profile: Profile) -> dict[Function, list[HotLine]]:
    """What lines have themselves."""
    counts: Counter[tuple[Function, int]] = Counter()
    times_us: Counter[tuple[Function, int]] = Counter()
    places = [(frame.function, frame.line) for frame in profile.frames]
    for node, us in zip(profile.nodes, profile.weights_us):
        place = places[profile.node_frames[node]]
        counts[place] += 1
        times_us[place] += us
    lines: dict[Function, list[HotLine]] = defaultdict(list)
    for (function, line), count in counts.items():
        lines[function].append(HotLine(line, count, times_us[function, line]))
    return lines
