"""What a service says of new samples in columns, as Python objects.

    reply of _getCpuSamples in the table form -> SamplesTable.add -> Update (the new samples)

The table keeps what replies build on: libraries, functions, frames, and the tree of callers that the
newest samples are in. It forgets all when the service says so, and each tree when the next begins.

Errors   ProtocolError names what is missing, points nowhere or does not go on where it should.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Mapping, Union, cast

from .errors import ProtocolError
from .model import Function, Library, Sample, function_of, library_of
from .protocol import (
    PrivateCpuSamplesTable,
    PrivateTableFrame,
    PrivateTableRenamed,
    PrivateTableTree,
)


@dataclass(frozen=True)
class Update:
    """What came since the update before."""

    samples: list[Sample]  # in the order they were stored: not quite that of time
    reset: bool  # what was had before is void: it was cleared, or this client was too slow
    more: bool  # there are more already
    lost: Mapping[str, int]  # ticks without a sample since the start, by cause
    # Functions without a name that samples had before this, by id, and what they are: a function,
    # and what it is inlined into, innermost first. Only where names were asked for as available.
    # (What is inlined into a function that had its name already is there in later samples only.)
    renamed: Mapping[str, tuple[Function, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class _Frame:
    """One pc: a function, and what it is inlined into, innermost first."""

    functions: tuple[Function, ...]
    lines: tuple[int, ...]
    inlined: tuple[bool, ...]


@dataclass
class _Tree:
    number: int = 0
    callers: list[int] = field(default_factory=lambda: [0])  # node 0 is nobody
    frames: list[int] = field(default_factory=lambda: [0])
    threads: list[Mapping[str, Any]] = field(default_factory=list)
    stacks: dict[tuple[int, int], _Frame] = field(default_factory=dict)  # by leaf and caller


class SamplesTable:
    """One reader's tables."""

    def __init__(self) -> None:
        self.cursor = ""  # for the next request
        self._forget()

    def _forget(self) -> None:
        self.libraries: list[Library] = []
        self.functions: list[Function] = []
        self._by_id: dict[str, Library] = {}
        self._frames: list[_Frame] = []
        self._tree = _Tree()

    def add(self, reply: Mapping[str, Any]) -> Update:
        wire = cast(PrivateCpuSamplesTable, reply)
        try:
            if wire.get("reset"):
                self._forget()
            renamed = self._add_tables(wire)
            samples: list[Sample] = []
            for tree in wire["trees"]:
                samples += self._add_tree(tree, wire["vmTags"])
            self.cursor = str(wire["next"])
            counters: Mapping[str, int] = wire["_counters"]
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            raise ProtocolError(f"_getCpuSamples: the table lacks or breaks {error}") from error
        lost = {name[5:]: n for name, n in counters.items() if name.startswith("lost_") and n}
        return Update(samples, bool(wire.get("reset")), bool(wire.get("more")), lost, renamed)

    def _add_tables(self, wire: PrivateCpuSamplesTable) -> dict[str, tuple[Function, ...]]:
        _goes_on("firstLibrary", wire["firstLibrary"], self.libraries)
        _goes_on("firstFunction", wire["firstFunction"], self.functions)
        _goes_on("firstFrame", wire["firstFrame"], self._frames)
        self.libraries += [library_of(entry) for entry in wire["libraries"]]
        self._by_id = {library.id: library for library in self.libraries}
        self.functions += [function_of(cast(Any, e), self._by_id) for e in wire["functions"]]
        self._frames += [self._frame(entry) for entry in wire["frames"]]
        return self._rename(wire["renamed"])

    def _rename(self, entries: list[PrivateTableRenamed]) -> dict[str, tuple[Function, ...]]:
        renamed = {}
        for entry in entries:
            number = entry["frame"]
            (before, *_), after = self._frames[number].functions, self._frame(entry)
            if before.kind == "Unnamed" and before is not after.functions[0]:
                renamed[before.id] = after.functions
            self._frames[number] = after
        if entries:
            self._tree.stacks.clear()
        return renamed

    def _frame(self, entry: Union[PrivateTableFrame, PrivateTableRenamed]) -> _Frame:
        functions = tuple([self.functions[number] for number in entry["functions"]])
        inlined = (True,) * (len(functions) - 1) + (False,)
        return _Frame(functions, tuple(entry["lines"]), inlined)

    def _add_tree(self, wire: PrivateTableTree, vm_tags: list[str]) -> list[Sample]:
        if wire["tree"] != self._tree.number:
            self._tree = _Tree(wire["tree"])
        tree = self._tree
        _goes_on("firstNode", wire["firstNode"], tree.callers)
        tree.callers += wire["nodes"]["callers"]
        tree.frames += wire["nodes"]["frames"]
        # Threads come again, from the first on, when one has another name.
        tree.threads[wire["firstThread"] :] = cast(Any, wire["threads"])
        return self._samples(wire)

    def _samples(self, wire: PrivateTableTree) -> list[Sample]:
        columns = wire["samples"]
        incomplete = set(columns["incomplete"])
        time_us = wire["timeOriginMicros"]
        samples = []
        for place, (delta, thread, caller, frame) in enumerate(
            zip(columns["timeDeltas"], columns["threads"], columns["callers"], columns["frames"])
        ):
            time_us += delta
            stack, source = self._stack(frame, caller), self._tree.threads[thread]
            samples.append(
                Sample(
                    timestamp_us=time_us,
                    tid=int(source["tid"]),
                    stack=stack.functions,
                    lines=stack.lines if any(stack.lines) else (),
                    inlined=stack.inlined if any(stack.inlined) else (),
                    whole=place not in incomplete,
                    user_tag=str(source["userTag"]),
                )
            )
        return samples

    def _stack(self, leaf: int, caller: int) -> _Frame:
        known = self._tree.stacks.get((leaf, caller))
        if known is None:
            known = self._tree.stacks[leaf, caller] = self._walk(leaf, caller)
        return known

    def _walk(self, leaf: int, caller: int) -> _Frame:
        frames = [self._frames[leaf]]
        while caller:
            frames.append(self._frames[self._tree.frames[caller]])
            caller = self._tree.callers[caller]
        return _Frame(
            tuple([function for frame in frames for function in frame.functions]),
            tuple([line for frame in frames for line in frame.lines]),
            tuple([inlined for frame in frames for inlined in frame.inlined]),
        )


def _goes_on(member: str, first: int, so_far: list[Any]) -> None:
    if first != len(so_far):
        raise ValueError(f"{member}: {first}, where {len(so_far)} has to follow")
