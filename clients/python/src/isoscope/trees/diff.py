"""What changed between two profiles, or two windows of one.

    before, after (trees) -> difference -> rows by function, and a tree of both

Both are normalised: what is compared are shares of their own CPU time (of their samples where one
has none), so that one may be longer than the other. Functions are the same when name, library and file are (Item.identity).

Units    before, after: shares, from 0 to 1. change: after - before, in the same.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Iterator, Optional

from ..errors import IsoscopeError
from .function_table import Table
from .item import Item
from .nodes import Node, Tree

_Identity = tuple[str, str, str, str, int]


@dataclass(eq=False)
class Change:
    """Of a function."""

    item: Item
    self_before: float = 0.0
    self_after: float = 0.0
    total_before: float = 0.0
    total_after: float = 0.0

    @property
    def self_change(self) -> float:
        return self.self_after - self.self_before

    @property
    def total_change(self) -> float:
        return self.total_after - self.total_before


@dataclass(eq=False)
class ChangedNode:
    """Of one way through the calls."""

    item: Item
    parent: Optional[ChangedNode] = None
    before: float = 0.0
    after: float = 0.0
    children: dict[_Identity, ChangedNode] = field(default_factory=dict)

    @property
    def change(self) -> float:
        return self.after - self.before


@dataclass(eq=False)
class Difference:
    rows: list[Change]  # the greatest change of self first, whichever way
    roots: list[ChangedNode]
    before: Tree
    after: Tree

    def walk(self) -> Iterator[ChangedNode]:
        """Parents first, the greatest change first."""
        waiting = self.roots[::-1]
        while waiting:
            node = waiting.pop()
            yield node
            waiting += sorted(node.children.values(), key=lambda n: -abs(n.change))[::-1]


def difference(before: Tree, after: Tree) -> Difference:
    """Both trees are weighed alike."""
    if before.by_time != after.by_time and before.weight and after.weight:
        raise IsoscopeError("CPU time cannot be compared with samples")
    rows: dict[_Identity, Change] = {}
    for row in Table.of(before).rows:
        change = rows.setdefault(row.item.identity(), Change(row.item))
        change.self_before += before.share(row.self_weight)
        change.total_before += before.share(row.total_weight)
    for row in Table.of(after).rows:
        change = rows.setdefault(row.item.identity(), Change(row.item))
        change.self_after += after.share(row.self_weight)
        change.total_after += after.share(row.total_weight)
    ranked = sorted(
        rows.values(), key=lambda c: (-abs(c.self_change), -abs(c.total_change), c.item.label)
    )
    roots: dict[_Identity, ChangedNode] = {}
    for tree in (before, after):
        _add(roots, tree, is_after=tree is after)
    ordered = sorted(roots.values(), key=lambda node: -max(node.before, node.after))
    return Difference(ranked, ordered, before, after)


def _add(roots: dict[_Identity, ChangedNode], tree: Tree, is_after: bool) -> None:
    placed: dict[Node, ChangedNode] = {}
    for node, parent in tree.walk():
        above = None if parent is None else placed[parent]
        siblings = roots if above is None else above.children
        key = node.item.identity()
        both = siblings.get(key)
        if both is None:
            both = siblings[key] = ChangedNode(node.item, above)
        placed[node] = both
        share = tree.share(node.total_weight)
        if is_after:
            both.after += share
        else:
            both.before += share
