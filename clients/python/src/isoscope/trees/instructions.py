"""What each instruction of a function weighs.

    Profile with pcs, instructions of _getDisassembly -> weigh -> [Instruction], in their order

A leaf's pc is the instruction that was interrupted: self. A caller's is the last byte of its call,
which so has what it called as total. A sample counts once, however often a pc recurs in its stack.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Iterator, Optional, Sequence

from ..model import NO_OFFSET, Library
from ..profile import Profile
from ..protocol import PrivateInstruction


@dataclass(frozen=True)
class Instruction:
    offset: int  # in its module
    code: bytes
    text: str  # "mov rax, rbx"
    called: str  # what it jumps to or calls, where that is another function; "": not known
    function: str  # that is inlined there; "": none
    file: str  # "": not known
    line: int  # 0: not known
    self_count: int
    self_us: int
    total_count: int
    total_us: int


def weigh(
    profile: Profile, library: Library, code: Sequence[PrivateInstruction]
) -> list[Instruction]:
    """library: whose code it is."""
    weights = _weights(profile, library)
    return [_weighed(entry, weights) for entry in code]


@dataclass
class _Weights:
    """By pc."""

    self_counts: Counter[int] = field(default_factory=Counter)
    self_us: Counter[int] = field(default_factory=Counter)
    total_counts: Counter[int] = field(default_factory=Counter)
    total_us: Counter[int] = field(default_factory=Counter)


def _weights(profile: Profile, library: Library) -> _Weights:
    pcs = [
        frame.offset if _is_same(frame.function.library, library) else NO_OFFSET
        for frame in profile.frames
    ]
    counts: Counter[int] = Counter(profile.nodes)
    times_us: Counter[int] = Counter()
    for node, us in zip(profile.nodes, profile.weights_us):
        times_us[node] += us
    weights = _Weights()
    for node, count in counts.items():
        leaf = pcs[profile.node_frames[node]]
        weights.self_counts[leaf] += count
        weights.self_us[leaf] += times_us[node]
        for pc in {pcs[profile.node_frames[at]] for at in _stack(profile, node)}:
            weights.total_counts[pc] += count
            weights.total_us[pc] += times_us[node]
    return weights


def _stack(profile: Profile, node: int) -> Iterator[int]:
    while node:
        yield node
        node = profile.callers[node]


def _is_same(one: Optional[Library], other: Library) -> bool:
    """Replies of several processes have an object each."""
    return one is not None and (one.id, one.path) == (other.id, other.path)


def _weighed(entry: PrivateInstruction, weights: _Weights) -> Instruction:
    code = bytes.fromhex(entry["bytes"])
    within = range(entry["offset"], entry["offset"] + len(code))

    def of(counts: Counter[int]) -> int:
        return sum(counts[pc] for pc in within)

    return Instruction(
        offset=entry["offset"],
        code=code,
        text=f"{entry['mnemonic']} {entry.get('operands', '')}".rstrip(),
        called=entry.get("called", ""),
        function=entry.get("function", ""),
        file=entry.get("file", ""),
        line=entry.get("line", 0),
        self_count=of(weights.self_counts),
        self_us=of(weights.self_us),
        total_count=of(weights.total_counts),
        total_us=of(weights.total_us),
    )
