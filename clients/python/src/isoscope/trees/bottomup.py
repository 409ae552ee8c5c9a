"""A call tree turned over: the functions that executed at the top, who called them below.

    main -> work -> leaf        leaf
         -> leaf                 <- work <- main
                                 <- main

A node's total is the samples that were in its root's function and came there by this way; only the
root has a self, which is all of them. Callers are looked up when they are asked for: a whole tree
of a big profile is seldom looked at, and would be many times as big as the call tree.
"""

from __future__ import annotations

from collections import Counter
from typing import Optional

from .nodes import Item, Node, Tree

_Place = tuple[Node, int, int]  # in the call tree; samples and microseconds that came from there


class Caller(Node):
    """A function, above those it called."""

    __slots__ = ("_places",)

    def __init__(self, item: Item, parent: Optional[Node] = None) -> None:
        super().__init__(item, parent)
        self._places: Optional[list[_Place]] = []  # None: the children are made

    def add(self, place: Node, count: int, time_us: int) -> None:
        assert self._places is not None
        self._places.append((place, count, time_us))
        self.total_count += count
        self.total_us += time_us

    @property
    def children(self) -> dict[Item, Node]:
        if self._places is not None:
            places, self._places = self._places, None
            for place, count, time_us in places:
                self._add_caller(place.parent, count, time_us)
        return self._children

    def _add_caller(self, caller: Optional[Node], count: int, time_us: int) -> None:
        if caller is None or caller.parent is None:  # a process is nobody's caller
            return
        item = caller.item.base
        node = self._children.get(item)
        if node is None:
            node = self._children[item] = Caller(item, self)
        assert isinstance(node, Caller)
        node.add(caller, count, time_us)


def bottom_up(tree: Tree) -> Tree:
    """Of all roots together. Inlined or not is not told apart: it is the call that was inlined."""
    turned = Tree(
        sample_count=tree.sample_count,
        cpu_us=tree.cpu_us,
        cut_count=tree.cut_count,
        lost=Counter(tree.lost),
        period_us=tree.period_us,
        true_period_us=tree.true_period_us,
        first_us=tree.first_us,
        last_us=tree.last_us,
        title="bottom up",
    )
    roots: dict[Item, Caller] = {}
    waiting = list(tree.roots)
    while waiting:
        node = waiting.pop()
        waiting.extend(node.children.values())
        if not node.self_count or node.parent is None:
            continue
        root = roots.get(node.item.base)
        if root is None:
            root = roots[node.item.base] = Caller(node.item.base)
        root.add(node, node.self_count, node.self_us)
    for root in roots.values():
        root.self_count, root.self_us = root.total_count, root.total_us
    turned.roots = sorted(roots.values(), key=lambda n: (-n.total_count, n.name, n.key))
    return turned
