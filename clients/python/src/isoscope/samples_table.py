"""What a service says of new samples in columns, as Python objects.

    reply of _getCpuSamples in the table form -> SamplesTable.add -> Update (the new samples)

The table keeps what replies build on: libraries, functions, frames, and the tree of callers that
the newest samples are in. It forgets all when the service says so, and each tree when the next
begins. What it has given away stays good: it begins anew, and renames, with new lists; lists only
grow.

Errors   ProtocolError names what is missing, points nowhere or does not go on where it should.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import count
from operator import lt
from typing import Any, Iterator, Mapping, Sequence, Union, cast

from .errors import ProtocolError
from .model import NO_OFFSET, Function, Library, Sample, function_of, library_of, lost_in, runtimes_in
from .protocol import (
    PrivateCpuSamplesTable,
    PrivateTableFrame,
    PrivateTableRenamed,
    PrivateTableSamples,
    PrivateTableTree,
)


@dataclass(frozen=True)
class TableFrame:
    """One pc: a function, and what it is inlined into, innermost first."""

    functions: tuple[Function, ...]
    lines: tuple[int, ...]
    inlined: tuple[bool, ...]
    offset: int = NO_OFFSET  # in the functions' module


@dataclass(eq=False)
class TableTree:
    """Stacks by their callers."""

    number: int = 0
    callers: array[int] = field(default_factory=lambda: array("I", [0]))  # node 0 is nobody
    frames: array[int] = field(default_factory=lambda: array("I", [0]))
    threads: list[Mapping[str, Any]] = field(default_factory=list)
    stacks: dict[tuple[int, int], TableFrame] = field(default_factory=dict)  # by leaf and caller


@dataclass(frozen=True, eq=False)
class Piece:
    """New samples of one tree, in columns; checked."""

    tree: TableTree
    frames: list[TableFrame]
    origin_us: int
    samples: PrivateTableSamples
    vm_tags: list[str]

    def objects(self) -> Iterator[Sample]:
        columns = self.samples
        incomplete = set(columns["incomplete"])
        time_us = self.origin_us
        for place, (delta, thread, caller, frame, tag, cpu_ns) in enumerate(
            zip(
                columns["timeDeltas"],
                columns["threads"],
                columns["callers"],
                columns["frames"],
                columns["vmTags"],
                columns["cpuNanos"],
            )
        ):
            time_us += delta
            stack, source = self._stack(frame, caller), self.tree.threads[thread]
            yield Sample(
                timestamp_us=time_us,
                tid=int(source["tid"]),
                stack=stack.functions,
                lines=stack.lines if any(stack.lines) else (),
                inlined=stack.inlined if any(stack.inlined) else (),
                whole=place not in incomplete,
                user_tag=str(source["userTag"]),
                vm_tag=self.vm_tags[tag],
                cpu_ns=cpu_ns,
                thread_name=str(source["name"]),
            )

    def _stack(self, leaf: int, caller: int) -> TableFrame:
        stacks = self.tree.stacks
        known = stacks.get((leaf, caller))
        if known is None:
            known = stacks[leaf, caller] = self._walk(leaf, caller)
        return known

    def _walk(self, leaf: int, caller: int) -> TableFrame:
        frames = [self.frames[leaf]]
        while caller:
            frames.append(self.frames[self.tree.frames[caller]])
            caller = self.tree.callers[caller]
        return TableFrame(
            tuple([function for frame in frames for function in frame.functions]),
            tuple([line for frame in frames for line in frame.lines]),
            tuple([inlined for frame in frames for inlined in frame.inlined]),
        )


@dataclass(frozen=True, eq=False)
class Update:
    """What came since the update before. Profile.add_update takes it as it is."""

    pieces: list[Piece]
    reset: bool  # what was had before is void: it was cleared, or this client was too slow
    more: bool  # there are more already
    lost: Mapping[str, int]  # ticks without a sample since the start, by cause
    period_us: int = 0
    true_period_us: int = 0  # the longest of the processes'; 0: not told
    # Functions without a name that samples had before this, by id, and what they are: a function,
    # and what it is inlined into, innermost first. Only where names were asked for as available.
    # (What is inlined into a function that had its name already is there in later samples only.)
    renamed: Mapping[str, tuple[Function, ...]] = field(default_factory=dict)
    runtimes: frozenset[str] = frozenset()  # whose code ends stacks: "java", ...

    def __len__(self) -> int:
        return sum(len(piece.samples["frames"]) for piece in self.pieces)

    def __bool__(self) -> bool:
        return True  # an update without samples is one

    @cached_property
    def samples(self) -> list[Sample]:
        """In the order they were stored: not quite that of time."""
        return [sample for piece in self.pieces for sample in piece.objects()]


class SamplesTable:
    """One reader's tables."""

    def __init__(self, kind: str = "time") -> None:
        self._kind = kind
        self.cursor = ""  # for the next request
        self._forget()

    def _forget(self) -> None:
        self.libraries: list[Library] = []
        self.functions: list[Function] = []
        self._by_id: dict[str, Library] = {}
        self._frames: list[TableFrame] = []
        self._tree = TableTree()

    def add(self, reply: Mapping[str, Any]) -> Update:
        wire = cast(PrivateCpuSamplesTable, reply)
        try:
            if wire.get("reset"):
                self._forget()
            renamed = self._add_tables(wire)
            pieces = [self._add_tree(tree, wire["vmTags"]) for tree in wire["trees"]]
            self.cursor = str(wire["next"])
            counters: Mapping[str, int] = cast(Any, wire["_counters"])
            return Update(
                pieces,
                bool(wire.get("reset")),
                bool(wire.get("more")),
                lost_in(counters, self._kind),
                int(wire["samplePeriod"]),
                int(counters.get("true_period_us", 0)),
                renamed,
                runtimes_in(counters),
            )
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            raise ProtocolError(f"_getCpuSamples: the table lacks or breaks {error}") from error

    def _add_tables(self, wire: PrivateCpuSamplesTable) -> dict[str, tuple[Function, ...]]:
        _goes_on("firstLibrary", wire["firstLibrary"], self.libraries)
        _goes_on("firstFunction", wire["firstFunction"], self.functions)
        _goes_on("firstFrame", wire["firstFrame"], self._frames)
        self.libraries += [library_of(entry) for entry in wire["libraries"]]
        self._by_id = {library.id: library for library in self.libraries}
        self.functions += [function_of(cast(Any, e), self._by_id) for e in wire["functions"]]
        self._frames += [self._frame(entry) for entry in wire["frames"]]
        return self._rename(wire["renamed"]) if wire["renamed"] else {}

    def _rename(self, entries: list[PrivateTableRenamed]) -> dict[str, tuple[Function, ...]]:
        """What was given away stays as it is: from here on there are other lists."""
        renamed = {}
        self._frames = list(self._frames)
        self._tree = replace(self._tree, stacks={})
        for entry in entries:
            number = entry["frame"]
            (before, *_), after = self._frames[number].functions, self._frame(entry)
            after = replace(after, offset=self._frames[number].offset)
            if before.kind == "Unnamed" and before is not after.functions[0]:
                renamed[before.id] = after.functions
            self._frames[number] = after
        return renamed

    def _frame(self, entry: Union[PrivateTableFrame, PrivateTableRenamed]) -> TableFrame:
        functions = tuple([self.functions[number] for number in entry["functions"]])
        inlined = (True,) * (len(functions) - 1) + (False,)
        offset: Any = entry.get("offset", NO_OFFSET)
        return TableFrame(functions, tuple(entry["lines"]), inlined, offset)

    def _add_tree(self, wire: PrivateTableTree, vm_tags: list[str]) -> Piece:
        if wire["tree"] != self._tree.number:
            self._tree = TableTree(wire["tree"])
        tree = self._tree
        _goes_on("firstNode", wire["firstNode"], tree.callers)
        nodes = wire["nodes"]
        check_nodes(nodes["callers"], nodes["frames"], len(tree.callers), len(self._frames))
        tree.callers.extend(nodes["callers"])
        tree.frames.extend(nodes["frames"])
        # Threads come again, from the first on, when one has another name.
        tree.threads[wire["firstThread"] :] = cast(Any, wire["threads"])
        piece = Piece(tree, self._frames, int(wire["timeOriginMicros"]), wire["samples"], vm_tags)
        return checked(piece)


# All is checked once and as a whole, so that nobody has to who reads it. ValueError says what is wrong.


def check_nodes(callers: list[int], frames: list[int], first: int, frame_count: int) -> None:
    """Of nodes that are new, from first on."""
    _same_length({"callers": callers, "frames": frames}, ("callers", "frames"))
    _within("a frame", frames, frame_count)
    _downwards(callers, first)


def checked(piece: Piece) -> Piece:
    tree, samples = piece.tree, piece.samples
    _same_length(samples, ("timeDeltas", "threads", "callers", "frames", "vmTags", "cpuNanos"))
    _within("a thread", samples["threads"], len(tree.threads))
    _within("a caller", samples["callers"], len(tree.callers))
    _within("a frame", samples["frames"], len(piece.frames))
    _within("a vmTag", samples["vmTags"], len(piece.vm_tags))
    _within("an incomplete sample", samples["incomplete"], len(samples["frames"]))
    return piece


def _goes_on(member: str, first: int, so_far: Sequence[Any]) -> None:
    if first != len(so_far):
        raise ValueError(f"{member}: {first}, where {len(so_far)} has to follow")


def _same_length(columns: Mapping[str, Any], names: tuple[str, ...]) -> None:
    if len({len(columns[name]) for name in names}) != 1:
        raise ValueError(f"columns of different lengths: {', '.join(names)}")


def _within(what: str, numbers: list[int], count: int) -> None:
    if numbers and not (0 <= min(numbers) and max(numbers) < count):
        raise ValueError(f"{what}: {max(numbers)} of {count}")


def _downwards(callers: list[int], first: int) -> None:
    if callers and not (min(callers) >= 0 and all(map(lt, callers, count(first)))):
        wrong = [(node, c) for node, c in enumerate(callers, first) if not 0 <= c < node]
        raise ValueError("node {}: its caller {} is not before it".format(*wrong[0]))
