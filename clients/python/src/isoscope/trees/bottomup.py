"""A call tree turned over: the functions that executed at the top, who called them below.

    main -> work -> leaf        leaf
         -> leaf                 <- work <- main
                                 <- main

A node's total is what was in its root's function and came there by this way; only the
root has a self, which is all of them. Callers are looked up when they are asked for: a whole tree
of a big profile is seldom looked at, and would be many times as big as the call tree.
"""

from __future__ import annotations

from array import array
from collections import Counter
from typing import Optional

from .columns import Columns
from .item import Item
from .nodes import Node, Tree


class Caller(Node):
    """A function, above those it called."""

    __slots__ = ("_parent", "_columns", "_origins", "_places", "_children")

    def __init__(self, item: Item, columns: Columns, parent: Optional[Caller] = None) -> None:
        super().__init__(item, 0 if parent is None else parent.depth + 1)
        self._parent, self._columns = parent, columns
        # In the call tree: where samples were, and this function on the way there.
        self._origins, self._places = array("I"), array("I")
        self._children: Optional[dict[Item, Node]] = None  # None: not made

    def add(self, origin: int, place: int) -> None:
        self._origins.append(origin)
        self._places.append(place)
        self.total_count += self._columns.self_counts[origin]
        self.total_us += self._columns.self_us[origin]

    @property
    def by_time(self) -> bool:
        return self._columns.by_time

    @property
    def parent(self) -> Optional[Node]:
        return self._parent

    @property
    def children(self) -> dict[Item, Node]:
        if self._children is None:
            self._children = self._callers()
            self._origins, self._places = array("I"), array("I")
        return self._children

    def _callers(self) -> dict[Item, Node]:
        columns, callers = self._columns, _Callers(self._columns, self)
        for origin, place in zip(self._origins, self._places):
            above = columns.parents[place]
            if columns.parents[above]:  # a process is nobody's caller
                callers.of(above).add(origin, above)
        return {caller.item: caller for caller in callers.made.values()}


class _Callers:
    """Those of one node, or the roots."""

    def __init__(self, columns: Columns, parent: Optional[Caller] = None) -> None:
        self._columns, self._parent = columns, parent
        self._by_number: dict[int, Caller] = {}  # of the item: inlined or not are two
        self.made: dict[Item, Caller] = {}

    def of(self, place: int) -> Caller:
        number = self._columns.item_numbers[place]
        caller = self._by_number.get(number)
        if caller is None:
            item = self._columns.items[number].base
            caller = self.made.get(item)
            if caller is None:
                caller = self.made[item] = Caller(item, self._columns, self._parent)
            self._by_number[number] = caller
        return caller


def bottom_up(tree: Tree) -> Tree:
    """Of all roots together. Inlined or not is not told apart: it is the call that was inlined."""
    turned = Tree(
        by_time=tree.by_time,
        kind=tree.kind,
        error=tree.error,
        objects=tree.objects,
        sample_count=tree.sample_count,
        cpu_us=tree.cpu_us,
        cut_count=tree.cut_count,
        lost=Counter(tree.lost),
        runtimes=tree.runtimes,
        period_us=tree.period_us,
        true_period_us=tree.true_period_us,
        first_us=tree.first_us,
        last_us=tree.last_us,
        title="bottom up",
    )
    columns = tree.columns
    callers = _Callers(columns)
    for node, count in enumerate(columns.self_counts):
        if count and columns.parents[node]:
            callers.of(node).add(node, node)
    roots = list(callers.made.values())
    for root in roots:
        root.self_count, root.self_us = root.total_count, root.total_us
    turned.roots = sorted(roots, key=lambda n: (-n.total_weight, n.name, n.key))
    return turned
