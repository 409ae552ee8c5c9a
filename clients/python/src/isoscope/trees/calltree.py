"""A profile into a call tree: the outermost calls at the top.

    samples -> counted by (root, node) -> one Node for the profile's nodes that merge -> totals

The samples are looked at once, to count them; all else is done once a node of the profile. So a
million samples of a thousand stacks cost what a thousand do, and the counting. What a tree is made
of is chosen before: Profile.window, filters.py.
"""

from __future__ import annotations

from collections import Counter
from itertools import repeat
from typing import Iterable, Union

from ..collector import no_collector
from ..model import CpuSamples, Process
from ..profile import Profile
from .items import Items
from .nodes import Item, Node, Tree
from .table import FunctionRow, Table


class CallTree(Tree):
    @classmethod
    def build(cls, profile: Union[Profile, Iterable[tuple[Process, CpuSamples]]]) -> CallTree:
        if not isinstance(profile, Profile):
            pairs, profile = profile, Profile()
            for process, samples in pairs:
                profile.add(process, samples)
        return call_tree(profile)

    def table(self) -> Table:
        return Table.of(self)

    def functions(self) -> list[FunctionRow]:
        """The hottest first, by self."""
        return self.table().rows


def call_tree(profile: Profile, *, merge: str = "function", group: str = "process") -> CallTree:
    """merge, group: as items.py says."""
    with no_collector():
        return _call_tree(profile, Items(profile, merge, group), merge, group)


def _call_tree(profile: Profile, items: Items, merge: str, group: str) -> CallTree:
    roots = items.roots()
    growing = _Growing(profile, items, joins=merge == "library")
    counts, times_us = _count(profile, _root_of_each(profile, group, items))
    for key, count in counts.items():
        root, node = divmod(key, len(profile.callers))
        place = growing.node(roots[root], node)
        place.self_count += count
        place.self_us += times_us[key]
    growing.sum_up()
    tree = CallTree(
        roots=growing.roots,
        sample_count=len(profile),
        cpu_us=sum(profile.weights_us),
        cut_count=len(profile.cut),
        lost=Counter(profile.lost),
        period_us=profile.period_us,
        true_period_us=profile.true_period_us,
        first_us=profile.first_us if len(profile) else None,
        last_us=profile.last_us,
    )
    tree.sort_roots()
    return tree


def _root_of_each(profile: Profile, group: str, items: Items) -> Iterable[int]:
    """Of each sample the number of its root."""
    if group == "tag":
        return profile.user_tags
    if group == "state":
        return profile.states
    if group == "all":
        return repeat(0, len(profile))
    if group == "thread":
        return profile.sample_threads
    return map(items.process_numbers().__getitem__, profile.sample_threads)


def _count(profile: Profile, roots: Iterable[int]) -> tuple[Counter[int], dict[int, int]]:
    """Samples and CPU time by key: root * stride + node, for numbers are counted faster than
    pairs."""
    stride = len(profile.callers)
    keys = [root * stride + node for root, node in zip(roots, profile.nodes)]
    counts = Counter(keys)
    times_us = dict.fromkeys(counts, 0)
    for key, time_us in zip(keys, profile.weights_us):
        times_us[key] += time_us
    return counts, times_us


class _Growing:
    """The tree's nodes for the profile's, made where a sample is."""

    def __init__(self, profile: Profile, items: Items, joins: bool) -> None:
        """joins: a node below one of the same item is that one."""
        self._profile, self._joins = profile, joins
        self._items = [items.of_frame(frame) for frame in profile.frames]
        self._nodes: dict[Item, dict[int, Node]] = {}  # by root, then the profile's node
        self._order: list[Node] = []  # parents before children

    @property
    def roots(self) -> list[Node]:
        return [known[0] for known in self._nodes.values()]

    def node(self, root: Item, node: int) -> Node:
        known = self._nodes.get(root)
        if known is None:
            top = Node(root)
            self._order.append(top)
            known = self._nodes[root] = {0: top}
        missing = []
        while node not in known:
            missing.append(node)
            node = self._profile.callers[node]
        found = known[node]
        for node in reversed(missing):
            found = known[node] = self._below(found, self._profile.node_frames[node])
        return found

    def _below(self, parent: Node, frame: int) -> Node:
        item = self._items[frame]
        if self._joins and item is parent.item:
            return parent
        before = len(parent.children)
        child = parent.child(item)
        if len(parent.children) > before:
            self._order.append(child)
        return child

    def sum_up(self) -> None:
        for node in reversed(self._order):
            node.total_count += node.self_count
            node.total_us += node.self_us
            if node.parent is not None:
                node.parent.total_count += node.total_count
                node.parent.total_us += node.total_us
