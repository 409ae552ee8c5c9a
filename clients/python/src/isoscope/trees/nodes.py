"""What trees are made of.

    Item  what a node stands for (item.py)
    Node  one place in a tree: an item below its parent's
    Tree  the roots, and what they were made of

Units    *_count: samples. *_us: microseconds of CPU time. weight: the one of these that the tree is
         weighed by. self: the item is the leaf. total: it is this node or above the leaf. Shares,
         and what is busy, are by weight.

A call tree is columns (columns.py); its nodes are made when they are looked at, and two that stand
for one place are equal. Nothing here recurses: a stack may be deeper than Python's own.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Iterator, NamedTuple, Optional, Sequence

from ..model import Function
from ..model import KINDS, TIME
from .columns import Columns
from .html import tree_html
from .item import Item

HOT_SHARE = 0.05  # of its root's weight: what has less is not on the hot path


class Small(NamedTuple):
    """Children that are not worth a line each."""

    nodes: int
    samples: int
    us: int


class Weighed:
    """What was counted, of its own and with what it called, and what of it is its weight."""

    __slots__ = ("self_count", "self_us", "total_count", "total_us")
    self_count: int
    self_us: int
    total_count: int
    total_us: int

    @property
    def by_time(self) -> bool:
        raise NotImplementedError

    @property
    def self_weight(self) -> int:
        return self.self_us if self.by_time else self.self_count

    @property
    def total_weight(self) -> int:
        return self.total_us if self.by_time else self.total_count


class Node(Weighed):
    """Children are found by item, and are in the order they came."""

    __slots__ = ("item", "depth")

    def __init__(self, item: Item, depth: int) -> None:
        self.item = item
        self.depth = depth
        self.self_count = self.self_us = self.total_count = self.total_us = 0

    @property
    def parent(self) -> Optional[Node]:
        raise NotImplementedError

    @property
    def children(self) -> dict[Item, Node]:
        raise NotImplementedError

    def sorted_children(self) -> list[Node]:
        """The busiest first."""
        return self.busy_children(0)[0]

    def busy_children(self, least: float) -> tuple[list[Node], Small]:
        """Those with so much weight, the busiest first, and what the others have together."""
        children = self.children.values()
        busy = [child for child in children if child.total_weight >= least]
        small = [child for child in children if child.total_weight < least]
        return sorted(busy, key=_rank), small_of(small)

    @property
    def name(self) -> str:
        return self.item.label

    @property
    def key(self) -> str:
        return self.item.key

    @property
    def function(self) -> Optional[Function]:
        return self.item.function

    @property
    def inlined(self) -> bool:
        return self.item.inlined

    @property
    def library(self) -> str:
        return self.item.library

    def path(self) -> list[Node]:
        """From its root down to it."""
        path, node = [self], self.parent
        while node is not None:
            path.append(node)
            node = node.parent
        return path[::-1]


def small_of(nodes: Sequence[Node]) -> Small:
    samples, us = sum(node.total_count for node in nodes), sum(node.total_us for node in nodes)
    return Small(len(nodes), samples, us)


def _rank(node: Node) -> tuple[int, str, str, bool]:
    return -node.total_weight, node.name, node.key, node.item.inlined


class Place(Node):
    """A node of columns."""

    __slots__ = ("columns", "number")

    def __init__(self, columns: Columns, number: int, depth: int) -> None:
        super().__init__(columns.item(number), depth)
        self.columns, self.number = columns, number
        self.self_count, self.self_us = columns.self_counts[number], columns.self_us[number]
        self.total_count, self.total_us = columns.total_counts[number], columns.total_us[number]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Place):
            return NotImplemented
        return self.number == other.number and self.columns is other.columns

    def __hash__(self) -> int:
        return hash((id(self.columns), self.number))

    @property
    def by_time(self) -> bool:
        return self.columns.by_time

    @property
    def parent(self) -> Optional[Node]:
        number = self.columns.parents[self.number]
        return Place(self.columns, number, self.depth - 1) if number else None

    @property
    def children(self) -> dict[Item, Node]:
        return {node.item: node for node in map(self._child, self.columns.children(self.number))}

    def busy_children(self, least: float) -> tuple[list[Node], Small]:
        totals, counts = self.columns.totals, self.columns.total_counts
        times_us = self.columns.total_us
        busy: list[Node] = []
        nodes = samples = us = 0
        for number in self.columns.children(self.number):  # there may be hundreds of thousands
            if totals[number] >= least:
                busy.append(self._child(number))
            else:
                nodes += 1
                samples += counts[number]
                us += times_us[number]
        return sorted(busy, key=_rank), Small(nodes, samples, us)

    def _child(self, number: int) -> Node:
        return Place(self.columns, number, self.depth + 1)


@dataclass(eq=False)
class Tree:
    """Of all samples that were chosen."""

    by_time: bool = False  # weighed by CPU time (of memory: by bytes; of waits: by time waited), else by samples
    kind: str = TIME  # KINDS; of memory *_us are bytes
    error: float = 0.0  # of is_many: the standard error of the whole, as a share of it
    objects: float = 0.0  # of is_many: allocations or waits that the samples stand for

    roots: list[Node] = field(default_factory=list)  # the busiest first
    sample_count: int = 0
    cpu_us: int = 0
    cut_count: int = 0  # samples whose stack's outer end is missing
    lost: Counter[str] = field(default_factory=Counter)  # ticks without a sample, by cause
    runtimes: frozenset[str] = frozenset()  # whose code ends stacks: "java", ...
    period_us: int = 0
    true_period_us: int = 0  # the longest of the processes'; 0: not told
    first_us: Optional[int] = None
    last_us: int = 0
    title: str = "call tree"
    # What a call tree is kept in; a bottom-up tree is none of these.
    columns: Columns = field(default_factory=Columns, repr=False)

    @property
    def extent_us(self) -> int:
        return 0 if self.first_us is None else self.last_us - self.first_us

    @property
    def is_memory(self) -> bool:
        return KINDS[self.kind].in_bytes

    @property
    def is_many(self) -> bool:
        return bool(KINDS[self.kind].many)

    @property
    def weight(self) -> int:
        return self.cpu_us if self.by_time else self.sample_count

    def share(self, weight: int) -> float:
        return weight / self.weight if self.weight else 0.0

    def walk(self, least: float = 0) -> Iterator[tuple[Node, Optional[Node]]]:
        """Every node of so much weight with its parent; parents first, the busiest child first."""
        waiting: list[tuple[Node, Optional[Node]]] = [(root, None) for root in self.roots[::-1]]
        while waiting:
            node, parent = waiting.pop()
            if node.total_weight >= least:
                yield node, parent
                children = node.busy_children(least)[0]
                waiting.extend([(child, node) for child in reversed(children)])

    def hot_path(self) -> list[Node]:
        """From the busiest root down the busiest calls, until a function spends more in
        itself than in any one callee, or no callee is hot any more."""
        path = self.roots[:1]
        while path:
            least = max(path[-1].self_weight, HOT_SHARE * path[0].total_weight)
            children = path[-1].busy_children(least)[0]
            if not children:
                break
            path.append(children[0])
        return path

    def sort_roots(self) -> None:
        self.roots.sort(key=lambda node: -node.total_weight)  # stable: arrival among equals

    def _repr_html_(self) -> str:
        """For notebooks."""
        return tree_html(self)
