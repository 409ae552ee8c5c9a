"""Samples of a session file (docs/session_format.md) into a profile, a chunk at a time.

    pieces of a chunk -> Chunk.add, end -> the profile's nodes and samples

Numbers of frames, nodes, sources and stacks go on through the pieces of a chunk. Node 0 and frame 0 are none. Columns
of all pieces are read as one: there are thousands of pieces, and hundreds of chunks.

Errors   ValueError, KeyError, IndexError.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from itertools import accumulate
from typing import Any, Callable, Iterable, Sequence

from ..profile import Profile, Rows
from .session_columns import Columns, Samples, split

_STATES = ["Running", "Runnable", "Lock", "IO", "Sleep", "GilHeld", "GilWait", *["Blocked"] * 9]

# Of frames, module << 48 | offset -> the profile's frames of each, outermost first.
Chains = Callable[[list[int]], list[tuple[int, ...]]]


class Chunk:
    def __init__(self, profile: Profile, columns: Columns, chains: Chains) -> None:
        self._profile, self._decode, self._chains_of = profile, columns, chains
        self._pieces: list[dict[str, Any]] = []
        self._columns: list[list[bytes]] = []  # of each piece
        self._threads: list[int] = []  # by source; the profile's
        self._tags: list[int] = []
        self._callees: defaultdict[int, list[int]] = defaultdict(list)  # of a frame
        self._frames = [0]  # by node
        self._callers: list[int] = []  # nodes
        self._leaves: list[int] = []  # how many each of these has

    def add(self, piece: dict[str, Any], sources: list[tuple[int, int]], content: bytes) -> None:
        """The next piece. It is looked at with the others."""
        self._pieces.append(piece)
        self._columns.append(split(content, 13))
        self._threads += [thread for thread, _ in sources]
        self._tags += [tag for _, tag in sources]

    def end(self) -> None:
        """All pieces are there."""
        if not self._pieces:
            return
        modules, offsets, parents, callees, *samples, leaves, frames, ends = map(b"".join, zip(*self._columns))
        new_callers = samples.pop(4)
        plain, signed = self._decode.numbers, self._decode.signed
        chains = [(), *self._chains_of(self._places(plain(modules), signed(offsets)))]
        new_frames = _climb("frame", signed(frames), len(chains))
        nodes = list(_rows(plain(parents), plain(callees)))
        callers = _climb("node", signed(new_callers), len(nodes) + 1)
        told = self._decode.samples(self._pieces, samples)
        new_leaves = list(_rows(told.new, plain(leaves)))
        pairs, tops = self._tree(nodes, told.stacks, new_leaves, callers, new_frames)
        if new_frames or callers or len(ends) != len(told.stacks):
            raise ValueError("it has more stacks than samples")
        ours, found = array("I", [0]), array("I")
        self._profile.grow(chains, ours, pairs, ours)
        self._profile.grow(chains, ours, tops, found)
        keys = [told.stacks[place] for place in told.new]
        self._add_rows(told, dict(zip(keys, found)), ends)

    def _places(self, modules: list[int], steps: list[int]) -> list[int]:
        """Of each frame module << 48 | offset. In each piece offsets begin anew."""
        offsets: list[int] = []
        for piece in self._pieces:
            begin = len(offsets)
            offsets += accumulate(steps[begin : begin + piece["frames"]])
        return [module << 48 | offset for module, offset in _rows(modules, offsets)]

    def _tree(
        self,
        nodes: list[tuple[int, int]],
        stacks: list[int],
        leaves: list[tuple[int, int]],
        callers: list[int],
        frames: list[int],
    ) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
        """Caller and frame of each node, and of each new leaf. A piece's callees are those of its nodes, then those
        of its leaves."""
        pairs: list[tuple[int, int]] = []
        tops: list[tuple[int, int]] = []
        samples = leaf = 0
        for piece in self._pieces:
            samples += piece["samples"]
            begin, leaf_begin = len(pairs), leaf
            self._add_nodes(nodes[begin : begin + piece["nodes"]], frames, pairs)
            while leaf < len(leaves) and leaves[leaf][0] < samples:
                leaf += 1
            self._add_leaves(leaves[leaf_begin:leaf], stacks, callers, frames, tops)
        if len(pairs) != len(nodes):
            raise ValueError("its columns have different lengths")
        return pairs, tops

    def _add_nodes(self, rows: list[tuple[int, int]], new: list[int], pairs: list[tuple[int, int]]) -> None:
        callees, frames = self._callees, self._frames
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

    def _add_leaves(
        self,
        rows: list[tuple[int, int]],
        stacks: list[int],
        callers: list[int],
        new: list[int],
        tops: list[tuple[int, int]],
    ) -> None:
        """Gives them their numbers. A new caller has a new leaf."""
        callees, frames, leaves, known_callers = self._callees, self._frames, self._leaves, self._callers
        for place, callee in rows:
            stack = stacks[place]
            caller = (stack >> 32) - 1
            if caller == len(known_callers):
                known_callers.append(callers.pop())
                leaves.append(0)
            node = known_callers[caller]
            known = callees[frames[node]]
            if not callee:
                known.append(new.pop())
            tops.append((node, known[callee - 1]))
            leaves[caller] += 1
            stacks[place] = stack | leaves[caller]

    def _add_rows(self, told: Samples, nodes: dict[int, int], ends: bytes) -> None:
        profile, kinds = self._profile, sorted(set(ends), key=lambda end: end & 15)
        states = {end: profile.vm_tag(_STATES[end & 15]) for end in kinds}
        cut = any(end >> 4 for end in kinds)
        profile.add_rows(
            Rows(
                times_us=told.times_us,
                threads=_mapped(self._threads, told.sources),
                tags=_mapped(self._tags, told.sources),
                nodes=map(nodes.__getitem__, told.stacks),
                weights_us=told.used_us,
                states=_mapped(states, ends),
                cut=[place for place, end in enumerate(ends) if end >> 4] if cut else (),
            )
        )


def _climb(what: str, steps: list[int], below: int) -> list[int]:
    """Each above the largest so far; the last one first."""
    largest, found = 0, []
    for step in steps:
        found.append(largest + step)
        if step > 0:
            largest += step
    least = what == "frame"
    if found and not (min(found) >= least and largest < below):
        raise ValueError(f"there is no {what} {next(one for one in found if not least <= one < below)}")
    return found[::-1]


def _mapped(table: Any, numbers: Sequence[int]) -> Iterable[int]:
    kinds = set(numbers)
    if len(kinds) == 1:  # as in most chunks
        return array("I", [table[kinds.pop()]]) * len(numbers)
    return map(table.__getitem__, numbers)


def _rows(*lists: Any) -> Any:
    if len({len(one) for one in lists}) != 1:
        raise ValueError("its columns have different lengths")
    return zip(*lists)
