"""A profile as columns: what trees, exports and files are made of.

    CpuSamples (list form)  -> Profile.add         \\
    Update (table form)     -> Profile.add_update   > Profile -> trees, formats, data frames
    a file's reader         -> Profile.add_sample  /

Stacks are shared: a stack is a node, whose frame is the leaf and whose caller is the node of the
rest. So the same stack is the same number, and work over a profile can be done once a node.

Units      *_us: microseconds; times on the program's monotonic clock.
Identity   Within one profile a function is one object (add and add_update see to it), a frame one
           index, a thread one index. Across profiles compare name, library and file.
Errors     IndexError for a number that is not in the table: a reader's mistake.
"""

from __future__ import annotations

from array import array
from collections import Counter
from dataclasses import dataclass
from itertools import accumulate
from math import sqrt
from typing import TYPE_CHECKING, Any, Callable, ClassVar, Iterable, Iterator, Mapping, NamedTuple, Optional

from .dataframe import data_frame, profile_columns
from .gc_pause import no_collector
from .model import KINDS, TIME, WAITED_FOR
from .model import NO_OFFSET, Sample, CpuSamples, Function, Process
from .protocol import PrivateTableSamples
from .samples_table import Piece, TableFrame, Update
from .ways import Ways

if TYPE_CHECKING:
    from .timeline import Timeline


CPU, SAMPLES = WEIGHTS = ("cpu", "samples")  # what shares may be of
# What wall mode's samples say of a thread that uses no CPU time.
_WAITING = frozenset(("Runnable", "Lock", "IO", "Sleep", "GilWait", "Blocked"))


@dataclass(frozen=True, eq=False)
class Thread:
    process: Process
    tid: int
    name: str = ""  # "": not known


@dataclass(frozen=True)
class Frame:
    """One function at one line."""

    function: Function
    line: int = 0  # 0: not known
    inlined: bool = False  # into its caller: no call was made
    offset: int = NO_OFFSET  # of the pc in its module, in a profile that keeps them


class Row(NamedTuple):
    """One sample."""

    time_us: int
    thread: Thread
    node: int  # of the leaf
    weight_us: int
    user_tag: str
    state: str
    whole: bool  # False: the stack's outer end is missing


class Rows(NamedTuple):
    """Samples; entry i of each column belongs to sample i, but for cut: places of samples."""

    times_us: Iterable[int]
    threads: Iterable[int]
    tags: Iterable[int]
    nodes: Iterable[int]
    weights_us: Iterable[int]
    states: Iterable[int]
    cut: Iterable[int]


class Profile:
    """Entry i of each column belongs to sample i. In the order of arrival: not quite that of
    time."""

    def __init__(self, *, pcs: bool = False, kind: str = TIME) -> None:
        """pcs: frames keep where they were, so that one line is as many frames as it has pcs."""
        self.kind = kind
        self.pcs = pcs
        self.threads: list[Thread] = []
        self.frames: list[Frame] = []
        self.callers = array("I", [0])  # node -> its caller's; node 0 is nobody; callers[n] < n
        self.node_frames = array("I", [0])  # node -> its frame's index
        self.tags: list[str] = []
        self.vm_tags: list[str] = []
        self.times_us = array("q")
        self.sample_threads = array("I")
        self.nodes = array("I")
        # CPU time; the period where the service does not tell. Of memory: bytes; of waits: time waited.
        self.weights_us = array("q")
        self.objects = array("d")  # of is_many: allocations or waits that a sample stands for; else empty
        self.waited_for: list[str] = []  # of is_waits: "mutex", ...; else empty
        self.holders = array("q")  # of is_waits: the tid of who had it; 0: not known
        self.user_tags = array("I")
        self.states = array("I")
        self.cut: set[int] = set()  # samples whose stack's outer end is missing
        self.period_us = 0
        self.true_period_us = 0  # the longest of the processes'; 0: not told
        self.lost: Counter[str] = Counter()  # ticks without a sample, by cause
        self.runtimes: frozenset[str] = frozenset()  # whose code ends stacks: "java", ...
        self.meta: dict[str, str] = {}  # "program", "command", "host", ... where known
        self.notes: list[str] = []  # sentences on what its file lacks
        self.timeline: Optional[Timeline] = None  # events, where they were asked for or its file has them
        self._index = _Index()
        self._table = _TableMap()

    def __len__(self) -> int:
        return len(self.nodes)

    # Tables: the index of what is given; it is put in where it is new.

    def thread(self, process: Process, tid: int, name: str = "") -> int:
        """A name that came late replaces the one before."""
        number = self._index.threads.setdefault((process.id, tid), len(self.threads))
        if number == len(self.threads):
            self.threads.append(Thread(process, tid, name))
        elif name and self.threads[number].name != name:
            self.threads[number] = Thread(self.threads[number].process, tid, name)
        return number

    def function(self, function: Function) -> Function:
        """The one object that stands for it here. Ids alone are not enough: a Dart VM's begin anew
        in each isolate."""
        uri = function.library.uri if function.library else ""
        key = (function.id, function.name, uri, function.file, function.line)
        return self._index.functions.setdefault(key, function)

    def frame(
        self, function: Function, line: int = 0, inlined: bool = False, offset: int = NO_OFFSET
    ) -> int:
        function = self.function(function)
        key = function, line, inlined, offset if self.pcs else NO_OFFSET
        number = self._index.frames.setdefault(key, len(self.frames))
        if number == len(self.frames):
            self.frames.append(Frame(*key))
        return number

    def node(self, caller: int, frame: int) -> int:
        """caller: a node, 0 for the outermost frame."""
        if not 0 <= caller < len(self.callers) or not 0 <= frame < len(self.frames):
            raise IndexError(f"there is no node {caller} or no frame {frame}")
        return self.ways().child(caller, frame, self.node_frames, self.callers)

    def stack_node(self, frames: Iterable[int]) -> int:
        """Of a whole stack, outermost first; its frames are of this profile."""
        ways, callers, numbers, node = self.ways(), self.callers, self.node_frames, 0
        first, end = ways.first, len(callers)
        for frame in frames:
            child = first[node]
            if not child:
                child = first[node] = end
            elif numbers[child] != frame:
                child = ways.others.setdefault(node << 32 | frame, end)
            if child == end:
                callers.append(node)
                numbers.append(frame)
                first.append(0)
                end += 1
            node = child
        return node

    def chain(self, frame: TableFrame) -> tuple[int, ...]:
        """Frames of one pc, outermost first."""
        parts = zip(frame.functions, frame.lines, frame.inlined)
        return tuple([self.frame(*part, frame.offset) for part in parts])[::-1]

    def grow(
        self,
        chains: list[tuple[int, ...]],
        nodes: array[int],
        pairs: Iterable[tuple[int, int]],
        found: array[int],
    ) -> None:
        """Another tree's nodes as ours. pairs: of each its caller, a place in nodes, and its pc, a
        place in chains. found: gets our node of each; it may be nodes itself, where callers are
        among the pairs before."""
        ways, tell = self.ways(), found.append
        callers, frames, end = self.callers, self.node_frames, len(self.callers)
        first, others = ways.first, ways.others.setdefault
        for caller, pc in pairs:
            node = nodes[caller]
            for ours in chains[pc]:
                child = first[node]
                if not child:
                    child = first[node] = end
                elif frames[child] != ours:
                    child = others(node << 32 | ours, end)
                if child == end:
                    callers.append(node)
                    frames.append(ours)
                    first.append(0)
                    end += 1
                node = child
            tell(node)

    def ways(self) -> Ways:
        """What finds nodes by caller and frame."""
        if self._index.ways is None:
            self._index.ways = Ways.of(self.callers, self.node_frames)
        return self._index.ways

    def complete(self) -> None:
        """No more is expected: what finds nodes by value is dropped, which of millions is most of
        the memory. It is made anew where more comes."""
        self._index.ways = None
        self._table = _TableMap()

    def tag(self, name: str) -> int:
        return _named(self._index.tags, self.tags, name)

    def vm_tag(self, name: str) -> int:
        return _named(self._index.vm_tags, self.vm_tags, name)

    # Samples.

    def add_sample(
        self,
        time_us: int,
        thread: int,
        node: int,
        *,
        weight_us: Optional[int] = None,
        user_tag: str = "",
        state: str = "",
        whole: bool = True,
    ) -> None:
        """weight_us None: the period."""
        if not whole:
            self.cut.add(len(self.nodes))
        self.times_us.append(time_us)
        self.sample_threads.append(thread)
        self.nodes.append(node)
        self.weights_us.append(self.period_us if weight_us is None else weight_us)
        self.user_tags.append(self.tag(user_tag))
        self.states.append(self.vm_tag(state))

    def add(self, process: Process, samples: CpuSamples) -> None:
        """One process' samples in the list form."""
        self._tell(samples.period_us, samples.true_period_us)
        self.lost.update(samples.lost)
        self.runtimes |= samples.runtimes
        process = _with_pid(process, samples.pid)
        nodes: dict[Any, int] = {}
        for sample in samples.samples:
            key = (sample.stack, sample.lines, sample.inlined, sample.offsets)
            node = nodes.get(key)
            if node is None:
                node = nodes[key] = self._node_of(*key)
            self.add_sample(
                sample.timestamp_us,
                self.thread(process, sample.tid, sample.thread_name),
                node,
                weight_us=self._weight_of(sample),
                user_tag=sample.user_tag,
                state=sample.vm_tag,
                whole=sample.whole,
            )

    def _weight_of(self, sample: Sample) -> Optional[int]:
        if self.is_many:
            self.objects.append(sample.objects)
        if self.is_memory:
            return sample.bytes
        if self.is_counted:
            return round(sample.objects)
        if self.is_waits:
            self.waited_for.append(sample.waited_for)
            self.holders.append(sample.holder)
            return (sample.wait_ns + 500) // 1000
        return None if sample.cpu_ns is None else (sample.cpu_ns + 500) // 1000

    def _node_of(
        self,
        stack: tuple[Function, ...],
        lines: tuple[int, ...],
        inlined: tuple[bool, ...],
        offsets: tuple[int, ...],
    ) -> int:
        return self.stack_node(
            [
                self.frame(
                    function,
                    lines[place] if lines else 0,
                    bool(inlined) and inlined[place],
                    offsets[place] if offsets else NO_OFFSET,
                )
                for place, function in enumerate(stack)
            ][::-1]
        )

    def add_update(self, update: Update, processes: Iterable[Process] = ()) -> None:
        """What is new in the table form, without an object per sample. processes: those that the
        threads belong to; one that is not among them is called by its number.

        After a reset begin with a new Profile: what is in this one stays. A name that comes later
        (Update.renamed) is for new samples only."""
        self._tell(update.period_us, update.true_period_us)
        self.lost = Counter(update.lost)  # counted since the start, not since the last update
        self.runtimes |= update.runtimes
        known = {process.id: process for process in processes}
        with no_collector():
            for piece in update.pieces:
                self._add_piece(piece, known)

    def _add_piece(self, piece: Piece, processes: Mapping[str, Process]) -> None:
        columns = piece.samples
        threads, tags = [], []
        for source in piece.tree.threads:
            isolate = str(source["isolateId"])
            process = processes.get(isolate) or Process(isolate, isolate.rpartition("/")[2])
            threads.append(self.thread(process, int(source["tid"]), str(source["name"])))
            tags.append(self.tag(str(source["userTag"])))
        states = {one: self.vm_tag(piece.vm_tags[one]) for one in sorted(set(columns["vmTags"]))}
        times = accumulate(columns["timeDeltas"], initial=piece.origin_us)
        next(times)
        weights = self._weights(columns)
        self.add_rows(
            Rows(
                times_us=times,
                threads=map(threads.__getitem__, columns["threads"]),
                tags=map(tags.__getitem__, columns["threads"]),
                nodes=self._table.leaves(self, piece),
                weights_us=weights,
                states=map(states.__getitem__, columns["vmTags"]),
                cut=columns["incomplete"],
            )
        )

    def _weights(self, columns: PrivateTableSamples) -> Iterable[int]:
        if self.is_memory:
            self.objects.extend(columns["objects"])
            return columns["bytes"]
        if self.is_counted:
            self.objects.extend(columns["faults"])
            return columns["faults"]
        if self.is_waits:
            self.objects.extend(columns["waits"])
            self.waited_for.extend(map(WAITED_FOR.__getitem__, columns["waitedFor"]))
            self.holders.extend(columns["holders"])
        return [(ns + 500) // 1000 for ns in (columns["waitNanos"] if self.is_waits else columns["cpuNanos"])]

    def add_rows(self, rows: Rows) -> None:
        """Samples in columns, whose numbers are of this profile."""
        first = len(self.nodes)
        self.times_us.extend(rows.times_us)
        self.sample_threads.extend(rows.threads)
        self.nodes.extend(rows.nodes)
        self.weights_us.extend(rows.weights_us)
        self.user_tags.extend(rows.tags)
        self.states.extend(rows.states)
        self.cut.update([first + place for place in rows.cut])

    def _tell(self, period_us: int, true_period_us: int) -> None:
        self.period_us = self.period_us or period_us
        self.true_period_us = max(self.true_period_us, true_period_us)

    # Reading.

    def stack(self, node: int) -> tuple[Frame, ...]:
        """Leaf first."""
        frames = []
        while node:
            frames.append(self.frames[self.node_frames[node]])
            node = self.callers[node]
        return tuple(frames)

    def samples(self) -> Iterator[Row]:
        for place, (time_us, thread, node, weight_us, tag, state) in enumerate(
            zip(
                self.times_us,
                self.sample_threads,
                self.nodes,
                self.weights_us,
                self.user_tags,
                self.states,
            )
        ):
            yield Row(
                time_us,
                self.threads[thread],
                node,
                weight_us,
                self.tags[tag],
                self.vm_tags[state],
                place not in self.cut,
            )

    def to_frame(self) -> Any:
        """A pandas.DataFrame, a row a sample (dataframe.profile_columns)."""
        return data_frame(profile_columns(self))

    # For notebooks: the call tree. Trees are made of profiles, so the package puts it on.
    _repr_html_: ClassVar[Callable[[Profile], str]]

    @property
    def processes(self) -> list[Process]:
        """In the order of their first threads."""
        return list({thread.process.id: thread.process for thread in self.threads}.values())

    @property
    def weight(self) -> str:
        """What its shares are of. CPU time, since samples stand for different times: a thread that
        ticks cost too much gets fewer. In wall mode each sample is a look at a thread, whether it
        uses CPU time or not, so these are counted; so are samples that tell of no CPU time."""
        return SAMPLES if not self.is_many and (self.waits or not any(self.weights_us)) else CPU

    @property
    def is_memory(self) -> bool:
        """Samples stand for bytes and objects, not for time."""
        return KINDS[self.kind].in_bytes

    @property
    def is_waits(self) -> bool:
        """Samples stand for time waited and waits. Their leaf is what was waited for."""
        return self.is_many and not self.is_memory and not self.is_counted

    @property
    def is_counted(self) -> bool:
        """They stand for so many, and for nothing else."""
        return KINDS[self.kind].is_counted

    @property
    def is_many(self) -> bool:
        """A sample stands for many, by its chance to be one."""
        return bool(KINDS[self.kind].many)

    @property
    def error(self) -> float:
        """Of is_many: the standard error of the whole, as a share of it. What was sampled for sure has none."""
        whole = sum(self.weights_us)
        parts = (us * us * (1 - 1 / max(many, 1)) for us, many in zip(self.weights_us, self.objects))
        return sqrt(sum(parts)) / whole if whole else 0.0

    @property
    def waits(self) -> bool:
        """It has, or had, samples of threads that waited."""
        return not _WAITING.isdisjoint(self.vm_tags)

    @property
    def first_us(self) -> int:
        return min(self.times_us, default=0)

    @property
    def last_us(self) -> int:
        return max(self.times_us, default=0)

    def window(self, first_us: Optional[int] = None, last_us: Optional[int] = None) -> Profile:
        """The samples from first to last, both included; None: no bound. The tables are shared with
        this profile: a node is the same number in both."""
        low = self.first_us if first_us is None else first_us
        high = self.last_us if last_us is None else last_us
        return self.choose([i for i, t in enumerate(self.times_us) if low <= t <= high])

    def choose(self, places: list[int]) -> Profile:
        """Those samples, in that order. The tables are shared."""
        chosen = Profile()
        chosen.__dict__.update(self.__dict__)
        for column in ("times_us", "sample_threads", "nodes", "weights_us", "user_tags", "states"):
            whole = getattr(self, column)
            part = array(whole.typecode, map(whole.__getitem__, places))
            setattr(chosen, column, part)
        if self.is_many:
            chosen.objects = array("d", map(self.objects.__getitem__, places))
        if self.is_waits:
            chosen.waited_for = list(map(self.waited_for.__getitem__, places))
            chosen.holders = array("q", map(self.holders.__getitem__, places))
        chosen.cut = {place for place, i in enumerate(places) if i in self.cut}
        chosen.lost, chosen.meta = Counter(self.lost), dict(self.meta)
        return chosen


class _Index:
    """What is in a profile's tables, by value."""

    def __init__(self) -> None:
        self.threads: dict[tuple[str, int], int] = {}
        self.functions: dict[tuple[str, str, str, str, int], Function] = {}
        self.frames: dict[tuple[Function, int, bool, int], int] = {}
        self.ways: Optional[Ways] = Ways()  # None: made when it is asked for
        self.tags: dict[str, int] = {}
        self.vm_tags: dict[str, int] = {}


_FRAME = (1 << 32) - 1


class _TableMap:
    """Where the table form's frames and nodes stand in the profile. What is done here is done once
    for each node of the wire, of which a profile has hundreds of thousands: hence no calls in the
    loops."""

    def __init__(self) -> None:
        self._source: Any = None  # the table's frames
        self._tree: Any = None
        self._chains: list[tuple[int, ...]] = []  # table's frame -> ours, outermost first
        self._nodes = array("I", [0])  # table's node -> ours
        self._leaves: dict[int, int] = {}  # table's caller << 32 | frame -> our node

    def leaves(self, profile: Profile, piece: Piece) -> Iterator[int]:
        """Of each sample our node. A table or tree that is not the one before begins anew."""
        if piece.frames is not self._source:
            self._source, self._chains, self._tree = piece.frames, [], None
        for frame in piece.frames[len(self._chains) :]:
            self._chains.append(profile.chain(frame))
        if piece.tree is not self._tree:
            self._tree, self._nodes, self._leaves = piece.tree, array("I", [0]), {}
        begin = len(self._nodes)
        new_nodes = zip(piece.tree.callers[begin:], piece.tree.frames[begin:])
        profile.grow(self._chains, self._nodes, new_nodes, self._nodes)
        samples = piece.samples
        keys = [c << 32 | frame for c, frame in zip(samples["callers"], samples["frames"])]
        new_leaves = [key for key in dict.fromkeys(keys) if key not in self._leaves]
        found = array("I")
        pairs = ((key >> 32, key & _FRAME) for key in new_leaves)
        profile.grow(self._chains, self._nodes, pairs, found)
        self._leaves.update(zip(new_leaves, found))
        return map(self._leaves.__getitem__, keys)


def _named(index: dict[str, int], names: list[str], name: str) -> int:
    number = index.setdefault(name, len(names))
    if number == len(names):
        names.append(name)
    return number


def _with_pid(process: Process, pid: Optional[int]) -> Process:
    return process if pid is None else Process(process.id, process.name, pid)
