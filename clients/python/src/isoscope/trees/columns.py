"""A tree as columns: what a tree of millions of nodes is kept in. nodes.py shows parts of it as
objects.

    grow.py -> Columns -> sum_up -> Place (nodes.py), Table, bottom_up

Node n's entries stand at n. Node 0 is nobody: the roots' parent. Parents come before children, so
one pass forwards hands down, one backwards sums up. No Python object stands for a node.

Units    *_counts: samples; *_us: microseconds of CPU time; selves, totals: the one of these that the
         tree is weighed by; self and total as in nodes.py.
"""

from __future__ import annotations

from array import array
from typing import Iterator, NamedTuple

from .item import Item


class Preorder(NamedTuple):
    """The nodes as they stand when each is followed by all below it."""

    order: list[int]  # place -> node
    ends: list[int]  # place -> the place after the last node below it


class Columns:
    def __init__(self) -> None:
        self.by_time = False  # CPU time is what counts, not samples
        self.items: list[Item] = []
        self.parents = array("I", [0])
        self.item_numbers = array("I", [0])  # node -> place in items
        self.self_counts = array("q", [0])
        self.self_us = array("q", [0])
        self.total_counts = array("q")
        self.total_us = array("q")
        self._first_children = array("I")  # of each node; 0: none
        self._siblings = array("I")  # the next one; 0: none

    def __len__(self) -> int:
        return len(self.parents)

    @property
    def selves(self) -> array[int]:
        return self.self_us if self.by_time else self.self_counts

    @property
    def totals(self) -> array[int]:
        return self.total_us if self.by_time else self.total_counts

    def item(self, node: int) -> Item:
        return self.items[self.item_numbers[node]]

    def sum_up(self) -> None:
        """Totals out of selves."""
        counts, times_us = self.self_counts.tolist(), self.self_us.tolist()
        for node, parent in zip(range(len(counts) - 1, 0, -1), reversed(self.parents)):
            counts[parent] += counts[node]
            times_us[parent] += times_us[node]
        self.total_counts, self.total_us = array("q", counts), array("q", times_us)

    def children(self, node: int) -> Iterator[int]:
        """In the order they came."""
        if not self._first_children:
            self._link()
        siblings, child = self._siblings, self._first_children[node]
        while child:
            yield child
            child = siblings[child]

    def _link(self) -> None:
        """Done when the first children are asked for: tables need none."""
        parents, zeros = self.parents, bytes(4 * len(self.parents))
        first, siblings = array("I", zeros), array("I", zeros)
        for node in range(len(parents) - 1, 0, -1):
            parent = parents[node]
            siblings[node] = first[parent]
            first[parent] = node
        self._first_children, self._siblings = first, siblings

    def bases(self) -> list[int]:
        """Of each item the number of the same, not inlined: of the first that has it as its base."""
        numbers: dict[Item, int] = {}
        return [numbers.setdefault(item.base, place) for place, item in enumerate(self.items)]

    def preorder(self) -> Preorder:
        parents = self.parents
        sizes = [1] * len(parents)
        for node in range(len(parents) - 1, 0, -1):
            sizes[parents[node]] += sizes[node]
        free, order, ends = sizes[:], sizes[:], sizes[:]
        free[0], order[0], ends[0] = 1, 0, len(parents)
        for node in range(1, len(parents)):
            parent = parents[node]
            place = free[parent]
            order[place] = node
            free[node] = place + 1
            free[parent] = ends[place] = place + sizes[node]
        return Preorder(order, ends)
