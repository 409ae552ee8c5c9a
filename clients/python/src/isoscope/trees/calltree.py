"""A profile into a call tree: the outermost calls at the top.

    samples -> by root -> Growing (grow.py) -> Columns, summed up -> CallTree

What a tree is made of is chosen before: Profile.window, filters.py.
"""

from __future__ import annotations

from array import array
from collections import Counter
from typing import Iterable, Sequence, Union

from ..errors import IsoscopeError
from ..gc_pause import no_collector
from ..model import CpuSamples, Process
from ..profile import CPU, WEIGHTS, Profile
from .function_table import FunctionRow, Table
from .grow import Growing
from .items import Items
from .nodes import Node, Place, Tree


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


def call_tree(
    profile: Profile, *, merge: str = "function", group: str = "process", weight: str = ""
) -> CallTree:
    """merge, group: as items.py says. weight: "cpu" or "samples"; "": the profile's own."""
    if weight not in ("", *WEIGHTS):
        raise IsoscopeError(f"no tree by weight '{weight}'; there are: {', '.join(WEIGHTS)}")
    by_time = (weight or profile.weight) == CPU
    with no_collector():
        return _call_tree(profile, Items(profile, merge, group), merge, group, by_time)


def _call_tree(
    profile: Profile, items: Items, merge: str, group: str, by_time: bool
) -> CallTree:
    growing = Growing(profile, items, joins=merge == "library")
    roots, tops = items.roots(), []
    for number, nodes, weights_us in _by_root(profile, group, items):
        tops.append(growing.add(roots[number], nodes, weights_us))
    columns = growing.columns
    columns.by_time = by_time
    columns.sum_up()
    tree = CallTree(
        by_time=by_time,
        kind=profile.kind,
        error=profile.error,
        objects=sum(profile.objects),
        roots=[Place(columns, top, 0) for top in tops],
        sample_count=len(profile),
        cpu_us=sum(profile.weights_us),
        cut_count=len(profile.cut),
        lost=Counter(profile.lost),
        runtimes=profile.runtimes,
        period_us=profile.period_us,
        true_period_us=profile.true_period_us,
        first_us=profile.first_us if len(profile) else None,
        last_us=profile.last_us,
        columns=columns,
    )
    tree.sort_roots()
    return tree


_Samples = tuple[int, Sequence[int], Sequence[int]]  # number of the root; nodes, weights


def _by_root(profile: Profile, group: str, items: Items) -> Iterable[_Samples]:
    """In the order of their first samples."""
    numbers = _root_of_each(profile, group, items)
    if not numbers:
        return [(0, profile.nodes, profile.weights_us)] if len(profile) else []
    places: dict[int, array[int]] = {}
    for place, number in enumerate(numbers):
        mine = places.get(number)
        if mine is None:
            mine = places[number] = array("I")
        mine.append(place)
    return [
        (
            number,
            array("I", map(profile.nodes.__getitem__, mine)),
            array("q", map(profile.weights_us.__getitem__, mine)),
        )
        for number, mine in places.items()
    ]


def _root_of_each(profile: Profile, group: str, items: Items) -> Sequence[int]:
    """Of each sample the number of its root; (): all have the first one."""
    if group == "tag":
        return profile.user_tags
    if group == "state":
        return profile.states
    if group == "thread":
        return profile.sample_threads
    processes = items.process_numbers()
    if group == "all" or len(set(processes)) < 2:
        return ()
    return array("I", map(processes.__getitem__, profile.sample_threads))
