"""Samples into a call tree and a table of functions.

    [(process, samples)] -> CallTree (one root per process; children by function)
                         -> FunctionRow table (self and total per function)
                         -> the hot path

Units    Counts are samples. self: the function is the leaf. total: it is anywhere on the
         stack, once per sample even when it recurs.

Stacks repeat a lot, so they are counted first and walked once each. Nothing here recurses:
a stack may be deeper than Python's own.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Iterable, Iterator, Optional

from .model import CpuSamples, Function, Process

HOT_SHARE = 0.05  # of its process's samples: what has less is not on the hot path


@dataclass(eq=False)
class Node:
    """One place in the call tree: a process, or a function called along one path."""

    function: Optional[Function]  # None: a process
    process: Process
    depth: int = 0
    self_count: int = 0
    total_count: int = 0
    inlined: bool = False  # into its parent: no call was made
    children: dict[tuple[str, bool], Node] = field(default_factory=dict)  # by function id, inlined

    @property
    def name(self) -> str:
        return self.function.name if self.function else self.process.label

    @property
    def key(self) -> str:
        return self.function.id if self.function else self.process.id

    @property
    def library(self) -> str:
        return self.function.library.name if self.function and self.function.library else ""

    def sorted_children(self) -> list[Node]:
        return sorted(
            self.children.values(), key=lambda node: (-node.total_count, node.name, node.key)
        )

    def child(self, function: Function, inlined: bool = False) -> Node:
        key = (function.id, inlined)
        node = self.children.get(key)
        if node is None:
            node = Node(function, self.process, self.depth + 1, inlined=inlined)
            self.children[key] = node
        return node


@dataclass(eq=False)
class FunctionRow:
    function: Function
    self_count: int = 0
    total_count: int = 0


class CallTree:
    """All samples that were added."""

    def __init__(self) -> None:
        self.roots: list[Node] = []
        self.sample_count = 0
        self.cut_count = 0  # samples whose stack's outer end is missing
        self.lost: Counter[str] = Counter()  # ticks without a sample, by cause
        self.period_us = 0
        self.true_period_us = 0  # the longest of the processes'; 0: not told
        self.first_us: Optional[int] = None
        self.last_us = 0
        self._functions: dict[str, FunctionRow] = {}

    @classmethod
    def build(cls, profile: Iterable[tuple[Process, CpuSamples]]) -> CallTree:
        tree = cls()
        for process, samples in profile:
            tree.add(process, samples)
        return tree

    def add(self, process: Process, samples: CpuSamples) -> None:
        """A process without samples gets no root."""
        self.period_us = self.period_us or samples.period_us
        self.true_period_us = max(self.true_period_us, samples.true_period_us)
        self.lost.update(samples.lost)
        if not samples.samples:
            return
        root = Node(None, replace(process, pid=samples.pid))
        stacks = Counter((sample.stack, sample.inlined) for sample in samples.samples)
        for (stack, inlined), count in stacks.items():
            _count_stack(root, stack, inlined, count)
            self._count_functions(stack, count)
        self.roots.append(root)
        self.roots.sort(key=lambda node: -node.total_count)  # stable: arrival among equals
        self.sample_count += len(samples.samples)
        self.cut_count += sum(not sample.whole for sample in samples.samples)
        self._widen(samples)

    def _widen(self, samples: CpuSamples) -> None:
        times = [sample.timestamp_us for sample in samples.samples]
        first = min(times)
        self.first_us = first if self.first_us is None else min(self.first_us, first)
        self.last_us = max(self.last_us, max(times))

    def _count_functions(self, stack: tuple[Function, ...], count: int) -> None:
        for function in set(stack):
            self._row(function).total_count += count
        self._row(stack[0]).self_count += count

    def _row(self, function: Function) -> FunctionRow:
        row = self._functions.get(function.id)
        if row is None:
            row = self._functions[function.id] = FunctionRow(function)
        return row

    @property
    def extent_us(self) -> int:
        return 0 if self.first_us is None else self.last_us - self.first_us

    def functions(self) -> list[FunctionRow]:
        """The hottest first, by self."""
        return sorted(
            self._functions.values(),
            key=lambda row: (-row.self_count, -row.total_count, row.function.name, row.function.id),
        )

    def hot_path(self) -> list[Node]:
        """From the busiest process down the busiest calls, until a function spends more
        samples in itself than in any one callee, or no callee is hot any more."""
        path = self.roots[:1]
        while path:
            children = path[-1].sorted_children()
            least = max(path[-1].self_count, HOT_SHARE * path[0].total_count)
            if not children or children[0].total_count < least:
                break
            path.append(children[0])
        return path

    def walk(self) -> Iterator[tuple[Node, Optional[Node]]]:
        """Every node with its parent; parents first, the busiest child first."""
        waiting: list[tuple[Node, Optional[Node]]] = [(r, None) for r in reversed(self.roots)]
        while waiting:
            node, parent = waiting.pop()
            yield node, parent
            waiting.extend((child, node) for child in reversed(node.sorted_children()))


def _count_stack(
    root: Node, stack: tuple[Function, ...], inlined: tuple[bool, ...], count: int
) -> None:
    node = root
    node.total_count += count
    for place in range(len(stack) - 1, -1, -1):
        node = node.child(stack[place], bool(inlined) and inlined[place])
        node.total_count += count
    node.self_count += count
