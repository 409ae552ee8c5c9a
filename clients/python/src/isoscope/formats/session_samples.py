"""Samples of a session file (docs/session_format.md) into a profile, a piece at a time.

    pieces of a chunk -> Chunk.add -> the profile's nodes and samples

Numbers of frames, nodes, sources and stacks go on through the pieces of a chunk. Node 0 and frame 0 are none.

Errors   ValueError, KeyError, IndexError.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from itertools import accumulate
from typing import Any, Callable, Iterable

from ..profile import Profile, Rows
from .session_columns import Columns, Samples, split

_STATES = ["Running", "Runnable", "Lock", "IO", "Sleep", *["Blocked"] * 11]

# Module and offset of frames -> the profile's frames of each, outermost first.
Chains = Callable[[list[tuple[int, int]]], list[tuple[int, ...]]]


class Chunk:
    def __init__(self, profile: Profile, columns: Columns, chains: Chains) -> None:
        self._profile, self._columns, self._chains_of = profile, columns, chains
        self._chains: list[tuple[int, ...]] = [()]  # by frame
        self._node_frames = [0]
        self._nodes = array("I", [0])  # the profile's
        self._threads: list[int] = []  # by source; the profile's
        self._tags: list[int] = []
        self._callees: defaultdict[int, list[int]] = defaultdict(list)  # of a frame
        self._callers: list[int] = []  # nodes
        self._leaves: list[int] = []  # how many each of these has
        self._stacks: dict[int, int] = {}  # number of the caller << 32 | number of the leaf -> the profile's node
        self._largest = {"frame": 0, "node": 0}

    def add(self, piece: dict[str, Any], sources: list[tuple[int, int]], content: bytes) -> None:
        modules, offsets, parents, callees, *samples, new_callers, new_leaves, new_frames, ends = _order(content)
        plain, signed = self._columns.numbers, self._columns.signed
        self._threads += [thread for thread, _ in sources]
        self._tags += [tag for _, tag in sources]
        self._chains += self._chains_of(list(_rows(plain(modules), list(accumulate(signed(offsets))))))
        frames = self._climb("frame", signed(new_frames), len(self._chains))
        if frames and not min(frames):
            raise ValueError("there is no frame 0")
        self._add_nodes(_rows(plain(parents), plain(callees)), frames)
        callers = self._climb("node", signed(new_callers), len(self._node_frames))
        told = self._columns.samples(piece, samples, len(self._callers))
        self._add_stacks(told.stacks, _rows(told.new, plain(new_leaves)), callers, frames)
        if frames or callers:
            raise ValueError("it has more stacks than samples")
        self._add_rows(told, ends)

    def _climb(self, what: str, steps: list[int], below: int) -> list[int]:
        """Each above the largest so far; the last one first."""
        largest, found = self._largest[what], []
        for step in steps:
            found.append(largest + step)
            if step > 0:
                largest += step
        self._largest[what] = largest
        if found and not (min(found) >= 0 and largest < below):
            raise ValueError(f"there is no {what} {min(found) if min(found) < 0 else largest}")
        return found[::-1]

    def _add_nodes(self, rows: Iterable[tuple[int, int]], new: list[int]) -> None:
        pairs, callees, frames = [], self._callees, self._node_frames
        for node, (back, callee) in enumerate(rows, len(frames)):
            if back >= node:
                raise ValueError(f"node {node}: its parent is not before it")
            parent = node - back if back else 0
            known = callees[frames[parent]]
            if not callee:
                known.append(new.pop())
            frame = known[callee - 1]
            frames.append(frame)
            pairs.append((parent, frame))
        self._profile.grow(self._chains, self._nodes, pairs, self._nodes)

    def _add_stacks(
        self, stacks: list[int], rows: Iterable[tuple[int, int]], callers: list[int], new: list[int]
    ) -> None:
        """Gives new leaves their numbers. A new caller has a new leaf."""
        pairs, keys, found = [], [], array("I")
        callees, frames, leaves = self._callees, self._node_frames, self._leaves
        for place, callee in rows:
            caller = (stacks[place] >> 32) - 1
            if caller == len(self._callers):
                self._callers.append(callers.pop())
                leaves.append(0)
            node = self._callers[caller]
            known = callees[frames[node]]
            if not callee:
                known.append(new.pop())
            pairs.append((node, known[callee - 1]))
            leaves[caller] += 1
            stacks[place] |= leaves[caller]
            keys.append(stacks[place])
        self._profile.grow(self._chains, self._nodes, pairs, found)
        self._stacks.update(zip(keys, found))

    def _add_rows(self, told: Samples, ends: bytes) -> None:
        profile, kinds = self._profile, sorted(set(ends), key=lambda end: end & 15)
        states = {end: profile.vm_tag(_STATES[end & 15]) for end in kinds}
        cut = any(end >> 4 for end in kinds)
        if len(ends) != len(told.stacks):
            raise ValueError("its columns have different lengths")
        profile.add_rows(
            Rows(
                times_us=told.times_us,
                threads=map(self._threads.__getitem__, told.sources),
                tags=map(self._tags.__getitem__, told.sources),
                nodes=map(self._stacks.__getitem__, told.stacks),
                weights_us=told.used_us,
                states=map(states.__getitem__, ends),
                cut=[place for place, end in enumerate(ends) if end >> 4] if cut else (),
            )
        )


def _order(content: bytes) -> list[bytes]:
    """As they are wanted: what is told of new things behind what there is of each sample."""
    columns = split(content, 13)
    return [*columns[:8], columns[9], columns[8], *columns[10:]]


def _rows(*lists: Any) -> Any:
    if len({len(one) for one in lists}) != 1:
        raise ValueError("its columns have different lengths")
    return zip(*lists)
