"""What trees are made of.

    Item  what a node stands for: a process, a thread, a tag; a function, a line of one, a library
    Node  one place in a tree: an item below its parent's
    Tree  the roots, and what they were made of

Units    *_count: samples. *_us: microseconds of CPU time. self: the item is the leaf. total: it is
         this node or above the leaf. Shares are of all samples of the tree.

Nothing here recurses: a stack may be deeper than Python's own.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Iterator, Optional

from ..model import Function

HOT_SHARE = 0.05  # of its root's samples: what has less is not on the hot path


@dataclass(frozen=True, eq=False)
class Item:
    """Items of one tree compare by identity; identity() is what is equal across trees."""

    kind: str  # "all", "process", "thread", "tag", "state": a root; "function", "line", "library"
    key: str  # the wire's id where it has one
    name: str
    label: str  # for people, where the name alone says too little
    function: Optional[Function] = None
    line: int = 0  # of "line"; 0: not known
    inlined: bool = False  # into its parent: no call was made
    _base: Optional[Item] = None  # the same, not inlined

    @property
    def base(self) -> Item:
        return self._base or self

    @property
    def library(self) -> str:
        return self.function.library.name if self.function and self.function.library else ""

    def identity(self) -> tuple[str, str, str, str, int]:
        function = self.function
        if self.kind == "all":  # is the same whatever the program is called
            return (self.kind, "", "", "", 0)
        name = (function.full_name or function.name) if function else self.name
        return (self.kind, name, self.library, function.file if function else "", self.line)


class Node:
    """Children are found by item, and are in the order they came."""

    __slots__ = (
        "item", "parent", "depth", "self_count", "self_us", "total_count", "total_us", "_children",
    )  # fmt: skip

    def __init__(self, item: Item, parent: Optional[Node] = None) -> None:
        self.item = item
        self.parent = parent
        self.depth: int = 0 if parent is None else parent.depth + 1
        self.self_count = self.self_us = self.total_count = self.total_us = 0
        self._children: dict[Item, Node] = {}

    @property
    def children(self) -> dict[Item, Node]:
        return self._children

    def child(self, item: Item) -> Node:
        node = self._children.get(item)
        if node is None:
            node = self._children[item] = Node(item, self)
        return node

    def sorted_children(self) -> list[Node]:
        """The busiest first."""
        return sorted(
            self.children.values(), key=lambda n: (-n.total_count, n.name, n.key, n.item.inlined)
        )

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


@dataclass(eq=False)
class Tree:
    """Of all samples that were chosen."""

    roots: list[Node] = field(default_factory=list)  # the busiest first
    sample_count: int = 0
    cpu_us: int = 0
    cut_count: int = 0  # samples whose stack's outer end is missing
    lost: Counter[str] = field(default_factory=Counter)  # ticks without a sample, by cause
    period_us: int = 0
    true_period_us: int = 0  # the longest of the processes'; 0: not told
    first_us: Optional[int] = None
    last_us: int = 0
    title: str = "call tree"

    @property
    def extent_us(self) -> int:
        return 0 if self.first_us is None else self.last_us - self.first_us

    def share(self, count: int) -> float:
        return count / self.sample_count if self.sample_count else 0.0

    def walk(self, min_count: float = 0) -> Iterator[tuple[Node, Optional[Node]]]:
        """Every node of so many samples with its parent; parents first, the busiest child first."""
        waiting = self.roots[::-1]
        while waiting:
            node = waiting.pop()
            if node.total_count >= min_count:
                yield node, node.parent
                waiting.extend(reversed(node.sorted_children()))

    def hot_path(self) -> list[Node]:
        """From the busiest root down the busiest calls, until a function spends more samples in
        itself than in any one callee, or no callee is hot any more."""
        path = self.roots[:1]
        while path:
            children = path[-1].sorted_children()
            least = max(path[-1].self_count, HOT_SHARE * path[0].total_count)
            if not children or children[0].total_count < least:
                break
            path.append(children[0])
        return path

    def sort_roots(self) -> None:
        self.roots.sort(key=lambda node: -node.total_count)  # stable: arrival among equals

    def _repr_html_(self) -> str:
        """For notebooks."""
        from .html import tree_html

        return tree_html(self)
