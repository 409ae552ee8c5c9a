"""A profile into a call tree: the outermost calls at the top.

    samples -> counted by (thread, node) -> one Node for the profile's nodes that merge -> totals

The samples are looked at once, to count them; all else is done once a node of the profile. So a million
samples of a thousand stacks cost what a thousand do, and the counting.
"""

from __future__ import annotations

from collections import Counter
from itertools import repeat
from typing import Iterable, Iterator, Optional, Union

from ..model import CpuSamples, Process
from ..profile import Profile
from .filters import Filter, matcher
from .items import Items
from .nodes import Item, Node, Tree
from .table import FunctionRow, Table

# What is the same for all samples that are counted as one: thread, tag, state, node.
_Key = tuple[int, int, int, int]


class CallTree(Tree):
    @classmethod
    def build(
        cls, profile: Union[Profile, Iterable[tuple[Process, CpuSamples]]]
    ) -> CallTree:
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


def call_tree(
    profile: Profile,
    *,
    merge: str = "function",
    group: str = "process",
    only: Filter = Filter(),
) -> CallTree:
    """merge, group: as items.py says."""
    profile = only.window(profile)
    chosen = _Chosen(profile, only)
    growing = _Growing(profile, Items(profile, merge, group), only, merge == "library")
    tree = CallTree(
        lost=Counter(profile.lost),
        period_us=profile.period_us,
        true_period_us=profile.true_period_us,
    )
    counts, times_us = _count(profile, group, only)
    for key, count in counts.items():
        if not chosen.takes(key):
            continue
        node = growing.node(key)
        node.self_count += count
        node.self_us += times_us[key]
        tree.sample_count += count
        tree.cpu_us += times_us[key]
    tree.cut_count = sum(1 for key in _keys_at(profile, profile.cut) if chosen.takes(key))
    if tree.sample_count:
        tree.first_us, tree.last_us = _span(profile, chosen, tree.sample_count)
    growing.sum_up()
    tree.roots = growing.roots()
    tree.sort_roots()
    return tree


def _count(
    profile: Profile, group: str, only: Filter
) -> tuple[Counter[_Key], dict[_Key, int]]:
    """Samples and CPU time by key; what is not looked at is not told apart."""
    no_tag = group != "tag" and only.tag is None
    no_state = group != "state" and only.state is None

    def keys() -> Iterator[_Key]:
        tags: Iterable[int] = repeat(0) if no_tag else profile.user_tags
        states: Iterable[int] = repeat(0) if no_state else profile.states
        return zip(profile.sample_threads, tags, states, profile.nodes)

    counts = Counter(keys())
    times_us = dict.fromkeys(counts, 0)
    for key, time_us in zip(keys(), profile.weights_us):
        times_us[key] += time_us
    return counts, times_us


def _keys_at(profile: Profile, places: Iterable[int]) -> Iterator[_Key]:
    for i in places:
        yield profile.sample_threads[i], profile.user_tags[i], profile.states[i], profile.nodes[i]


def _span(profile: Profile, chosen: _Chosen, count: int) -> tuple[int, int]:
    if count == len(profile):
        return profile.first_us, profile.last_us
    keys = _keys_at(profile, range(len(profile)))
    times = [time_us for time_us, key in zip(profile.times_us, keys) if chosen.takes(key)]
    return min(times), max(times)


class _Chosen:
    """Which keys the filter takes."""

    def __init__(self, profile: Profile, only: Filter) -> None:
        self._threads = [only.takes_thread(thread) for thread in profile.threads]
        self._tags = [only.tag in (None, tag) for tag in profile.tags]
        self._states = [only.state in (None, state) for state in profile.vm_tags]
        self._nodes = _takes_stack(profile, only)

    def takes(self, key: _Key) -> bool:
        thread, tag, state, node = key
        return (
            self._threads[thread]
            and self._tags[tag]
            and self._states[state]
            and (self._nodes is None or self._nodes[node])
        )


def _takes_stack(profile: Profile, only: Filter) -> Optional[list[bool]]:
    """By node, whether the stack that ends in it is taken; None: every one."""
    if only.focus is None and only.ignore is None:
        return None
    focused, ignored = matcher(only.focus), matcher(only.ignore)
    wanted = [focused(frame.function) for frame in profile.frames]
    unwanted = [ignored(frame.function) for frame in profile.frames]
    has_wanted, has_unwanted = [only.focus is None], [False]
    for caller, frame in zip(profile.callers[1:], profile.node_frames[1:]):
        has_wanted.append(has_wanted[caller] or wanted[frame])
        has_unwanted.append(has_unwanted[caller] or unwanted[frame])
    return [good and not bad for good, bad in zip(has_wanted, has_unwanted)]


class _Growing:
    """The tree's nodes for the profile's, made where a sample is."""

    def __init__(self, profile: Profile, items: Items, only: Filter, joins: bool) -> None:
        """joins: a node below one of the same item is that one."""
        self._profile, self._items, self._joins = profile, items, joins
        hidden = only.hidden()
        self._frame_items: list[Optional[Item]] = [
            None if hidden(frame.function) else items.of_frame(frame) for frame in profile.frames
        ]
        self._nodes: dict[Item, dict[int, Node]] = {}  # by root, then the profile's node
        self._order: list[Node] = []  # parents before children

    def node(self, key: _Key) -> Node:
        root, node = self._items.root(*key[:3]), key[3]
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
        item = self._frame_items[frame]
        if item is None or (self._joins and item is parent.item):
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

    def roots(self) -> list[Node]:
        """In the order of the profile's processes and threads."""
        return [known[0] for known in self._nodes.values()]
