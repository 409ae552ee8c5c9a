"""A flat table out of a call tree: each function once, with who calls it and whom it calls.

A function that is on a stack twice is counted once a sample, and so is a call that recurs: only its
outermost place on each path is added, with all that is below.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Optional

from ..errors import IsoscopeError
from ..model import Function
from .nodes import Item, Node, Tree


@dataclass(eq=False)
class FunctionRow:
    """Of a function; of a line or a library where the tree is merged by these."""

    item: Item
    self_count: int = 0
    total_count: int = 0
    self_us: int = 0
    total_us: int = 0
    callers: Counter[Item] = field(default_factory=Counter)  # samples where it is called by that
    callees: Counter[Item] = field(default_factory=Counter)

    @property
    def function(self) -> Function:
        if self.item.function is None:
            raise IsoscopeError(f"a {self.item.kind} is no function: {self.item.name}")
        return self.item.function

    @property
    def name(self) -> str:
        return self.item.label

    @property
    def library(self) -> str:
        return self.item.library


class Table:
    """Rows: the hottest first, by self."""

    def __init__(self, rows: list[FunctionRow], sample_count: int) -> None:
        self.rows = rows
        self.sample_count = sample_count

    @classmethod
    def of(cls, tree: Tree) -> Table:
        counting = _Counting()
        for root in tree.roots:
            counting.walk(root)
        rows = sorted(
            counting.rows.values(),
            key=lambda row: (-row.self_count, -row.total_count, row.name, row.item.key),
        )
        return cls(rows, tree.sample_count)

    def by_total(self) -> list[FunctionRow]:
        return sorted(self.rows, key=lambda row: -row.total_count)

    def named(self, name: str) -> list[FunctionRow]:
        """There may be several of one name."""
        return [row for row in self.rows if name in (row.name, row.item.name)]

    def _repr_html_(self) -> str:
        from .html import table_html

        return table_html(self)


class _Counting:
    def __init__(self) -> None:
        self.rows: dict[Item, FunctionRow] = {}
        self._on_path: Counter[Item] = Counter()
        self._calls_on_path: Counter[tuple[Item, Item]] = Counter()

    def walk(self, root: Node) -> None:
        waiting: list[tuple[Node, bool]] = [(node, True) for node in root.children.values()]
        while waiting:
            node, enters = waiting.pop()
            caller = node.parent.item.base if node.parent and node.parent.parent else None
            if enters:
                self._enter(node, caller)
                waiting.append((node, False))
                waiting.extend([(child, True) for child in node.children.values()])
            else:
                self._on_path[node.item.base] -= 1
                if caller is not None:
                    self._calls_on_path[caller, node.item.base] -= 1

    def _enter(self, node: Node, caller: Optional[Item]) -> None:
        item = node.item.base
        row = self._row(item)
        row.self_count += node.self_count
        row.self_us += node.self_us
        if not self._on_path[item]:
            row.total_count += node.total_count
            row.total_us += node.total_us
        self._on_path[item] += 1
        if caller is None:
            return
        if not self._calls_on_path[caller, item]:
            row.callers[caller] += node.total_count
            self._row(caller).callees[item] += node.total_count
        self._calls_on_path[caller, item] += 1

    def _row(self, item: Item) -> FunctionRow:
        row = self.rows.get(item)
        if row is None:
            row = self.rows[item] = FunctionRow(item)
        return row
