"""The profile's nodes into a tree's: those that are the same item below the same parent are one.

    root, nodes of its samples -> Growing.add -> Columns

The samples are looked at to mark the nodes they are on and to count them; all else is done once a
node of the profile. The loops are the time that a big tree takes: they make no calls and no object.
"""

from __future__ import annotations

from array import array
from itertools import compress
from typing import Iterable, Sequence

from ..profile import Profile
from ..ways import Ways
from .columns import Columns
from .item import Item
from .items import Items

_DENSE = 8  # one in so many nodes: then going through all is faster than sorting


class Growing:
    def __init__(self, profile: Profile, items: Items, joins: bool) -> None:
        """joins: a node below one of the same item is that one."""
        self.columns = Columns()
        self._profile, self._joins = profile, joins
        self._numbers: dict[Item, int] = {}  # item -> its place in the columns' items
        self._frame_items = [self._number(items.of_frame(frame)) for frame in profile.frames]
        self._ways = Ways()  # of the tree
        self._of = array("I", bytes(4 * len(profile.callers)))  # the root's: profile's node -> ours
        self._seen = bytearray(len(profile.callers))  # is it on a stack of the root's samples?

    def _number(self, item: Item) -> int:
        number = self._numbers.setdefault(item, len(self.columns.items))
        if number == len(self.columns.items):
            self.columns.items.append(item)
        return number

    def add(self, root: Item, nodes: Sequence[int], weights_us: Sequence[int]) -> int:
        """All samples of a root that was not there before: of each its node and CPU time. Returns
        the root's node."""
        columns = self.columns
        top = self._of[0] = len(columns.parents)
        columns.parents.append(0)
        self._ways.first.append(0)
        columns.item_numbers.append(self._number(root))
        marked = self._mark(nodes)
        dense = len(marked) * _DENSE > len(self._seen)
        self._merge(compress(range(len(self._seen)), self._seen) if dense else sorted(marked))
        rest = bytes(8 * (len(columns.parents) - len(columns.self_counts)))
        columns.self_counts.frombytes(rest)
        columns.self_us.frombytes(rest)
        of, self_counts, self_us = self._of, columns.self_counts, columns.self_us
        for node, weight_us in zip(nodes, weights_us):
            mine = of[node]
            self_counts[mine] += 1
            self_us[mine] += weight_us
        if dense:
            self._seen = bytearray(len(self._seen))
        else:
            for node in marked:
                self._seen[node] = 0
        return top

    def _mark(self, nodes: Sequence[int]) -> array[int]:
        """The nodes on the stacks of these, each once, in any order."""
        seen, callers = self._seen, self._profile.callers
        marked = array("I")
        add = marked.append
        seen[0] = 1
        for node in set(nodes):
            while not seen[node]:
                seen[node] = 1
                add(node)
                node = callers[node]
        seen[0] = 0
        return marked

    def _merge(self, used: Iterable[int]) -> None:
        columns, profile = self.columns, self._profile
        callers, frames, items = profile.callers, profile.node_frames, self._frame_items
        of, joins, first, others = self._of, self._joins, self._ways.first, self._ways.others
        parents, item_numbers = columns.parents, columns.item_numbers
        known, end = others.setdefault, len(parents)
        for node in used:
            parent, item = of[callers[node]], items[frames[node]]
            if joins and item_numbers[parent] == item:
                of[node] = parent
                continue
            mine = first[parent]
            if not mine:
                mine = first[parent] = end
            elif item_numbers[mine] != item:
                mine = known(parent << 32 | item, end)
            of[node] = mine
            if mine == end:
                parents.append(parent)
                item_numbers.append(item)
                first.append(0)
                end += 1
