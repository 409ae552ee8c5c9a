"""Which node of a tree is which child of which: for trees that are made of millions.

    parent, label -> node

Most parents have one child. So the first one is kept in a column, and only its siblings in a
dictionary, which of all nodes would be most of the memory, and of the time.
"""

from __future__ import annotations

from array import array
from typing import Iterable


class Ways:
    """Loops over millions of nodes do what `child` does themselves, without a call."""

    def __init__(self) -> None:
        self.first = array("I", [0])  # node -> its first child; 0: none
        self.others: dict[int, int] = {}  # parent << 32 | label -> node

    def child(self, parent: int, label: int, labels: array[int], parents: array[int]) -> int:
        """Of the tree in these columns; it is put in where it is new."""
        end, mine = len(parents), self.first[parent]
        if not mine:
            mine = self.first[parent] = end
        elif labels[mine] != label:
            mine = self.others.setdefault(parent << 32 | label, end)
        if mine == end:
            parents.append(parent)
            labels.append(label)
            self.first.append(0)
        return mine

    @classmethod
    def of(cls, parents: Iterable[int], labels: Iterable[int]) -> Ways:
        """Of a tree that is there."""
        ways = cls()
        for node, (parent, label) in enumerate(zip(parents, labels)):
            if not node:
                continue
            ways.first.append(0)
            if ways.first[parent]:
                ways.others[parent << 32 | label] = node
            else:
                ways.first[parent] = node
        return ways
