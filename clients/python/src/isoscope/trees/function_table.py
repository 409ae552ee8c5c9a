"""A flat table out of a call tree: each function once, with who calls it and whom it calls.

A function that is on a stack twice is counted once a sample, and so is a call that recurs: only its
outermost place on each path is added, with all that is below. In preorder that place is told by two
numbers: what is below a node stands between it and its end, so a place before the end of the last
one that was added lies below it. Calls are counted when the first of them are asked for.
"""

from __future__ import annotations

from collections import Counter
from typing import Callable, Optional

from ..errors import IsoscopeError
from ..gc_pause import no_collector
from ..model import Function
from .columns import Columns
from .html import table_html
from .item import Item
from .nodes import Tree, Weighed


class FunctionRow(Weighed):
    """Of a function; of a line or a library where the tree is merged by these."""

    __slots__ = ("item", "_by_time", "_calls")

    def __init__(self, item: Item, by_time: bool, calls: Callable[[], _Calls]) -> None:
        self.item = item
        self._by_time = by_time
        self.self_count = self.total_count = self.self_us = self.total_us = 0
        self._calls = calls

    @property
    def by_time(self) -> bool:
        return self._by_time

    @property
    def callers(self) -> Counter[Item]:
        """Samples where it is called by that."""
        return self._calls().callers.get(self.item, Counter())

    @property
    def callees(self) -> Counter[Item]:
        return self._calls().callees.get(self.item, Counter())

    @property
    def callers_us(self) -> Counter[Item]:
        """The same in CPU time."""
        return self._calls().callers_us.get(self.item, Counter())

    @property
    def callees_us(self) -> Counter[Item]:
        return self._calls().callees_us.get(self.item, Counter())

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

    def __init__(self, rows: list[FunctionRow], tree: Tree) -> None:
        self.rows = rows
        self.tree = tree

    @classmethod
    def of(cls, tree: Tree) -> Table:
        """Of a call tree."""
        with no_collector():
            rows = _Counting(tree.columns).rows()
        rows.sort(key=lambda row: (-row.self_weight, -row.total_weight, row.name, row.item.key))
        return cls(rows, tree)

    def by_total(self) -> list[FunctionRow]:
        return sorted(self.rows, key=lambda row: -row.total_weight)

    def named(self, name: str) -> list[FunctionRow]:
        """There may be several of one name."""
        return [row for row in self.rows if name in (row.name, row.item.name)]

    def _repr_html_(self) -> str:
        return table_html(self)


class _Calls:
    """Samples and CPU time by call: of each function who calls it, and whom it calls."""

    def __init__(self) -> None:
        self.callers: dict[Item, Counter[Item]] = {}
        self.callees: dict[Item, Counter[Item]] = {}
        self.callers_us: dict[Item, Counter[Item]] = {}
        self.callees_us: dict[Item, Counter[Item]] = {}

    def add(self, caller: Item, callee: Item, count: int, us: int) -> None:
        self.callers.setdefault(callee, Counter())[caller] = count
        self.callees.setdefault(caller, Counter())[callee] = count
        self.callers_us.setdefault(callee, Counter())[caller] = us
        self.callees_us.setdefault(caller, Counter())[callee] = us


class _Counting:
    """Once a node: the loops make no calls. Functions by number: that of their items' bases."""

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self._bases = columns.bases()
        self._order, self._ends = columns.preorder()
        self._calls: Optional[_Calls] = None

    def rows(self) -> list[FunctionRow]:
        columns, bases = self._columns, self._bases
        own, own_us = [0] * len(bases), [0] * len(bases)
        total, total_us = [0] * len(bases), [0] * len(bases)
        until = [0] * len(bases)  # the end of the last place that was added
        parents, numbers = columns.parents, columns.item_numbers
        self_counts, self_us = columns.self_counts, columns.self_us
        counts, times_us = columns.total_counts, columns.total_us
        for place, (node, end) in enumerate(zip(self._order, self._ends)):
            if not parents[node]:
                continue  # a root is no function
            base = bases[numbers[node]]
            if place >= until[base]:
                until[base] = end
                total[base] += counts[node]
                total_us[base] += times_us[node]
            if self_counts[node]:
                own[base] += self_counts[node]
                own_us[base] += self_us[node]
        return [
            self._row(base, own[base], total[base], own_us[base], total_us[base])
            for base in range(len(bases))
            if until[base]
        ]

    def _row(self, base: int, *numbers: int) -> FunctionRow:
        row = FunctionRow(self._columns.items[base].base, self._columns.by_time, self.calls)
        row.self_count, row.total_count, row.self_us, row.total_us = numbers
        return row

    def calls(self) -> _Calls:
        if self._calls is None:
            with no_collector():
                self._calls = self._count_calls()
        return self._calls

    def _count_calls(self) -> _Calls:
        columns, bases = self._columns, self._bases
        parents, numbers = columns.parents, columns.item_numbers
        counts, times_us = columns.total_counts, columns.total_us
        sums: dict[int, int] = {}  # caller << 32 | callee -> samples
        sums_us: dict[int, int] = {}
        until: dict[int, int] = {}
        for place, (node, end) in enumerate(zip(self._order, self._ends)):
            parent = parents[node]
            if not parents[parent]:
                continue  # a process, a thread or a tag is nobody's caller
            call = bases[numbers[parent]] << 32 | bases[numbers[node]]
            if place >= until.get(call, 0):
                until[call] = end
                sums[call] = sums.get(call, 0) + counts[node]
                sums_us[call] = sums_us.get(call, 0) + times_us[node]
        calls, items = _Calls(), columns.items
        for call, count in sums.items():
            caller, callee = items[call >> 32].base, items[call & 0xFFFFFFFF].base
            calls.add(caller, callee, count, sums_us[call])
        return calls
