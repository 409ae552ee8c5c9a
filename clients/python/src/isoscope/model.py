"""What a service says about a profile, as Python objects.

    reply of _getCpuSamples -> CpuSamples (samples, functions, libraries; references resolved)
    reply of getVM          -> Process

The reply's tables stand once and samples point into them by id; here a stack is a tuple of
the Function objects themselves.

Units    *_us: microseconds on the program's monotonic clock.
Errors   ProtocolError names what is missing or points nowhere.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Mapping, NamedTuple, Optional, cast

from .dataframe import data_frame, samples_columns
from .errors import ProtocolError
from .protocol import PrivateCpuSample, PrivateCpuSamples, PrivateFunction, PrivateLibrary

NO_OFFSET = -1  # not known, not asked for, or of code that only has a name
_MAIN = ":main()"


MS, BYTES, COUNT = "ms", "bytes", "count"  # what weights are of


class Kind(NamedTuple):
    """What samples are of. The words are the wire's."""

    option: str = ""  # of `isoscope run`, without which there are none; "": there always are
    many: str = ""  # what a sample stands for beside its weight: "allocations"; "": for itself
    amount: str = ""  # what its weight is: "allocated"; "": CPU time
    unit: str = MS  # of its weight

    @property
    def in_bytes(self) -> bool:
        return self.unit == BYTES

    @property
    def is_counted(self) -> bool:
        """Its weight is how many it stands for."""
        return self.unit == COUNT


KINDS = {
    "time": Kind(),
    "alloc": Kind("alloc", "allocations", "allocated", BYTES),
    "live": Kind("alloc", "allocations", "alive", BYTES),
    "lock": Kind("lock", "waits", "waited for locks"),
    "wait": Kind("lock", "waits", "waited"),
    "fault": Kind("faults", "page faults", "faulted in", COUNT),
}
TIME, ALLOC, LIVE, LOCK, WAIT, FAULT = KINDS

# What a thread waits for, by the number that a table says.
WAITED_FOR = ("mutex", "read", "write", "condition", "semaphore", "futex",
              "blocked", "sleep", "disk", "stopped", "processor")
# Those of `attach --off-cpu`: no lock is known, and the holder is who ended the wait.
OFF_CPU = frozenset(WAITED_FOR[6:])


@dataclass(frozen=True)
class Code:
    """Where the code of a module is: size bytes at offset, at file_offset in its file. base: the
    module's first byte is there. All but file_offset as functions' offsets."""

    offset: int
    size: int
    file_offset: int
    base: int = 0


@dataclass(frozen=True, eq=False)
class Library:
    """One module of the program: its file, or what stands for one."""

    id: str
    uri: str
    name: str
    path: str = ""  # the file, where the service tells it
    system: bool = False  # not the user's own code
    build_id: str = ""  # in hexadecimal; "": it has none
    code: Optional[Code] = None  # None: not known
    runs: str = ""  # it is a runtime itself: its native code runs functions of that word


@dataclass(frozen=True, eq=False)
class Function:
    """One symbol, or one function that was only seen inlined into others. Objects compare by
    identity; across replies the id is what is equal."""

    id: str
    name: str
    library: Optional[Library]
    full_name: str = ""  # with parameters
    kind: str = ""  # "Native", "Stub", "Jit", "Interpreted", "Unnamed"
    file: str = ""  # where it is defined; "": not known
    line: int = 0  # of its definition; 0: not known
    offset: int = NO_OFFSET  # where it begins in its module
    size: int = 0  # bytes from there on; 0: not known
    runtime: str = ""  # what runs it, where that is no processor: "python", "java", ...


@dataclass(frozen=True, eq=False)
class Sample:
    timestamp_us: int
    tid: int
    stack: tuple[Function, ...]  # leaf first, never empty
    whole: bool = True  # False: the stack's outer end is missing
    user_tag: str = ""  # what the program said it was doing, or else the thread's name
    lines: tuple[int, ...] = ()  # of the frames; 0: not known. (): none is
    inlined: tuple[bool, ...] = ()  # into the next frame of the stack. (): none is
    offsets: tuple[int, ...] = ()  # of the frames' pcs in their modules. (): not told
    vm_tag: str = ""  # what it was doing: "Native", "Idle", ...
    cpu_ns: Optional[int] = None  # the thread's CPU time since its last sample; None: not told
    bytes: int = 0  # of memory: what it stands for, of all that was allocated
    wait_ns: int = 0  # of waits: what it stands for, of all that was waited
    objects: float = 0.0  # of memory and waits: the same, in these
    waited_for: str = ""  # of waits: "mutex", ...
    holder: int = 0  # of waits: the tid of who had it; 0: not known
    thread_name: str = ""  # "": not known


@dataclass(frozen=True, eq=False)
class CpuSamples:
    period_us: int
    origin_us: int
    extent_us: int
    samples: list[Sample]
    functions: dict[str, Function]
    libraries: dict[str, Library]
    pid: Optional[int] = None
    true_period_us: int = 0  # what the timer can do; 0: the service does not tell
    lost: Mapping[str, int] = field(default_factory=dict)  # ticks without a sample, by cause
    runtimes: frozenset[str] = frozenset()  # whose code ends stacks: "java", ...

    def to_frame(self) -> Any:
        """A pandas.DataFrame, a row a sample (dataframe.samples_columns)."""
        return data_frame(samples_columns(self))

    @classmethod
    def parse(cls, reply: Mapping[str, Any], kind: str = "time") -> CpuSamples:
        wire = cast(PrivateCpuSamples, reply)
        try:
            libraries = {entry["id"]: library_of(entry) for entry in wire["libraries"]}
            functions = {entry["id"]: function_of(entry, libraries) for entry in wire["functions"]}
            return cls(
                period_us=int(wire["samplePeriod"]),
                origin_us=int(wire["timeOriginMicros"]),
                extent_us=int(wire["timeExtentMicros"]),
                samples=[_sample(entry, functions) for entry in wire["samples"]],
                functions=functions,
                libraries=libraries,
                **_extras(reply, kind),
            )
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise ProtocolError(f"_getCpuSamples: the reply lacks or breaks {error}") from error


@dataclass(frozen=True)
class Process:
    """An isolate that is a whole process of the program."""

    id: str
    name: str
    pid: Optional[int] = None  # known once its samples are

    @property
    def number(self) -> str:
        """Of "isolates/4242": the pid, or one of its own where a pid was used again."""
        return self.id.rpartition("/")[2]

    @property
    def label(self) -> str:
        return f"{self.name} ({self.pid or self.number})"

    @classmethod
    def parse(cls, isolate: Any) -> Process:
        try:
            name = str(isolate["name"])
            # A pid behind it tells processes of one name apart; the label has it in any case.
            name = name.partition(_MAIN)[0] or name
            return cls(id=str(isolate["id"]), name=name)
        except (KeyError, TypeError) as error:
            raise ProtocolError(f"getVM: an isolate lacks {error}") from error


def is_thread(isolate: Any) -> bool:
    """It is a thread of a process that is an isolate too; a Dart VM's isolates are none."""
    return "_tid" in isolate


def lost_in(counters: Mapping[str, int], kind: str) -> dict[str, int]:
    """Samples that could not be taken, by cause."""
    lost = {name: int(n) for name, n in counters.items() if n}
    if kind != "time":
        return {"no stack, or no room": n for name, n in lost.items() if name == "alloc_lost"}
    return {name[5:]: n for name, n in lost.items() if name.startswith("lost_")}


def _extras(reply: Mapping[str, Any], kind: str) -> dict[str, Any]:
    """What our service adds to the reply; another one's may lack it."""
    counters = reply.get("_counters") or {}
    lost = lost_in(counters, kind)
    pid = reply.get("pid")
    return {
        "pid": int(pid) if pid else None,
        "true_period_us": int(counters.get("true_period_us", 0)),
        "lost": lost,
        "runtimes": runtimes_in(counters),
    }


def runtimes_in(counters: Mapping[str, Any]) -> frozenset[str]:
    return frozenset(name[8:] for name in counters if name.startswith("runtime_"))


def library_of(entry: PrivateLibrary) -> Library:
    uri = str(entry.get("uri") or "")
    name = str(entry.get("name") or "") or uri.rpartition("/")[2]
    path, system = str(entry.get("path") or ""), bool(entry.get("system"))
    return Library(
        id=entry["id"],
        uri=uri,
        name=name,
        path=path,
        system=system,
        build_id=str(entry.get("buildId") or ""),
        code=_code_of(entry),
        runs=str(entry.get("runs") or ""),
    )


def _code_of(entry: PrivateLibrary) -> Optional[Code]:
    code = entry.get("code")
    if not code:
        return None
    base = int(code.get("base") or 0)
    return Code(int(code["offset"]), int(code["size"]), int(code["fileOffset"]), base)


def function_of(entry: PrivateFunction, libraries: Mapping[str, Library]) -> Function:
    owner = entry.get("owner")
    library = None if owner is None else _lookup(libraries, owner["id"], "library")
    name = str(entry["name"])
    return Function(
        id=entry["id"],
        name=name,
        library=library,
        full_name=str(entry.get("fullName") or name),
        kind=str(entry.get("kind") or ""),
        file=str(entry.get("file") or ""),
        line=int(entry.get("line") or 0),
        offset=int(entry.get("offset", NO_OFFSET)),
        size=int(entry.get("size") or 0),
        runtime=str(entry.get("runtime") or ""),
    )


def _sample(entry: PrivateCpuSample, functions: Mapping[str, Function]) -> Sample:
    try:
        # The hot line of the whole client: no call per frame.
        stack = tuple([functions[frame["function"]["id"]] for frame in entry["stack"]])
    except KeyError as error:
        raise ProtocolError(
            f"_getCpuSamples: a stack refers to {error}, which no table has"
        ) from error
    if not stack:
        raise ProtocolError("_getCpuSamples: a sample has an empty stack")
    whole = not entry.get("truncated")
    return Sample(
        timestamp_us=int(entry["timestamp"]),
        tid=int(entry["tid"]),
        stack=stack,
        lines=_marks(entry["stack"], "line", 0),
        inlined=_marks(entry["stack"], "inlined", False),
        offsets=_offsets(entry["stack"]),
        whole=whole,
        user_tag=str(entry.get("userTag", "")),
        vm_tag=str(entry.get("vmTag", "")),
        cpu_ns=int(entry["cpuNanos"]) if "cpuNanos" in entry else None,
        bytes=int(entry.get("bytes", 0)),
        wait_ns=int(entry.get("waitNanos", 0)),
        objects=float(entry.get("objects", entry.get("waits", entry.get("faults", 0)))),
        waited_for=str(entry.get("waitedFor", "")),
        holder=int(entry.get("holder", 0)),
    )


def _marks(frames: Any, member: str, missing: Any) -> tuple[Any, ...]:
    """The frames' values of a member that most frames of most programs lack."""
    marks = tuple([frame.get(member, missing) for frame in frames])
    return marks if any(marks) else ()


def _offsets(frames: Any) -> tuple[int, ...]:
    told = any("offset" in frame for frame in frames)
    return tuple([frame.get("offset", NO_OFFSET) for frame in frames]) if told else ()


def _lookup(libraries: Mapping[str, Library], library_id: str, what: str) -> Library:
    if library_id not in libraries:
        raise ProtocolError(f"_getCpuSamples: no table has the {what} '{library_id}'")
    return libraries[library_id]
