"""What can be asked of a service, as conversations without a connection.

    an operation yields a Call, is sent its result (or thrown its RpcError), and returns what
    it was for

So Client and AsyncClient have the same methods: each only knows how to make a call.

Errors   ProtocolError where a reply lacks what is needed. RpcError passes through, but where an
         older or other service is asked in its own way then.
"""

from __future__ import annotations

import base64
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any, Callable, Generator, Iterable, Mapping, Optional, TypeVar, cast

from .errors import ProtocolError, RpcError
from .model import CpuSamples, Process, is_thread
from .model import TIME
from .profile import Profile
from .protocol import GetFlagListResult, GetVMResult, Version
from .public import from_public
from .samples_table import SamplesTable, Update
from .stalls import LoopStats, Stall, loop_stats_of, stalls_of
from .timeline import Timeline

METHOD_NOT_FOUND, INVALID_PARAMS, ALREADY_SUBSCRIBED = -32601, -32602, 103
PAGE = 250_000  # samples asked for at a time: some 8 MB of text
_FOREVER_US = 1 << 62

Namer = Callable[[Mapping[str, Any]], Mapping[str, Any]]
T = TypeVar("T")


@dataclass(frozen=True)
class Call:
    method: str
    params: Mapping[str, Any] = field(default_factory=dict)


Operation = Generator[Call, Mapping[str, Any], T]


def listen(stream: str) -> Operation[None]:
    """No error where it is listened to already."""
    try:
        yield Call("streamListen", {"streamId": stream})
    except RpcError as error:
        if error.code != ALREADY_SUBSCRIBED:
            raise


def version() -> Operation[Version]:
    return cast(Version, (yield Call("getVersion")))


def vm() -> Operation[GetVMResult]:
    reply = yield Call("getVM")
    if not isinstance(reply.get("isolates"), list):
        raise ProtocolError("getVM: the reply has no list of isolates")
    return cast(GetVMResult, reply)


def identity() -> Operation[Any]:
    """Two services at the same address differ in it."""
    reply = yield Call("getVM")
    # Which process getVM speaks of may change; when the service began does not.
    return reply.get("_serviceStartTime") or (reply.get("pid"), reply.get("startTime"))


def processes() -> Operation[list[Process]]:
    reply = yield from vm()
    # Those that ended with few samples stand apart, so that other tools do not show hundreds.
    isolates = [*reply["isolates"], *reply.get("_endedIsolates", [])]
    return [Process.parse(isolate) for isolate in isolates if not is_thread(isolate)]


def flags() -> Operation[dict[str, str]]:
    entries = cast(GetFlagListResult, (yield Call("getFlagList"))).get("flags")
    if not isinstance(entries, list):
        raise ProtocolError("getFlagList: the reply has no list of flags")
    return {str(f.get("name")): str(f.get("valueAsString")) for f in entries}


def set_flag(name: str, value: str) -> Operation[None]:
    reply = yield Call("setFlag", {"name": name, "value": value})
    if reply.get("type") == "Error":  # the protocol's way: a result that is none
        error = {"code": INVALID_PARAMS, "message": f"{name}={value}: {reply.get('message')}"}
        raise RpcError("setFlag", error)


def cpu_samples(
    process: Process,
    since_us: int = 0,
    count: Optional[int] = None,
    name: Optional[Namer] = None,
    pcs: bool = False,
    kind: str = TIME,
) -> Operation[Optional[CpuSamples]]:
    params: dict[str, Any] = {"isolateId": process.id, "timestamp": since_us, **_of_kind(kind)}
    if pcs:
        params["pcs"] = True
    if count is not None:
        params["count"] = count
    try:
        reply = yield Call("_getCpuSamples", params)
    except RpcError as error:
        if error.code != METHOD_NOT_FOUND or kind != TIME:
            raise
        return (yield from public_cpu_samples(process, since_us, count, error))
    if reply.get("type") == "Sentinel":
        return None
    return CpuSamples.parse(name(reply) if name else reply, kind)


def public_cpu_samples(
    process: Process, since_us: int, count: Optional[int], unknown: RpcError
) -> Operation[Optional[CpuSamples]]:
    """As a Dart VM tells them, which knows no _getCpuSamples."""
    params: dict[str, Any] = {"isolateId": process.id}
    if since_us > 0:  # a Dart VM looks at the window only when it has both ends
        params.update(timeOriginMicros=since_us, timeExtentMicros=_FOREVER_US)
    try:
        reply = yield Call("getCpuSamples", params)
    except RpcError as error:
        raise unknown if error.code == METHOD_NOT_FOUND else error
    return None if reply.get("type") == "Sentinel" else from_public(reply, count)


def update(
    table: SamplesTable,
    process: Optional[Process],
    since_us: int,
    count: int,
    available: bool,
    kind: str = TIME,
) -> Operation[Optional[Update]]:
    """What is new for this table; None: the process is gone. available: names need not be there."""
    params: dict[str, Any] = {"form": "table", "timestamp": since_us, "count": count}
    params.update(_of_kind(kind))
    if process is not None:
        params["isolateId"] = process.id
    if available:
        params["symbols"] = "available"
    if table.cursor:
        params["cursor"] = table.cursor
    reply = yield Call("_getCpuSamples", params)
    return None if reply.get("type") == "Sentinel" else table.add(reply)


def session(sources: bool) -> Operation[bytes]:
    """All that the service has, as a session file; sources: with the text that it gives."""
    reply = yield Call("_getSession", {"sources": True} if sources else {})
    try:
        return base64.b64decode(str(reply["data"]), validate=True)
    except (KeyError, ValueError) as error:
        raise ProtocolError(f"_getSession: the reply lacks or breaks {error}") from error


def timeline(process: Optional[Process] = None) -> Operation[Timeline]:
    """All events, of all processes or of one. Where the service lets go of some meanwhile, the
    others are read anew."""
    known = yield from processes()
    gathered = Timeline()
    params: dict[str, Any] = {"count": PAGE}
    if process is not None:
        params["isolateId"] = process.id
    while True:
        reply = yield Call("_getTimeline", params)
        if reply.get("type") == "Sentinel":
            return gathered
        if reply.get("reset"):
            gathered = Timeline()
        more = bool(reply.get("more"))
        gathered.add_reply(reply, known, open=not more)
        if not more:
            return gathered
        params = {**params, "cursor": str(reply["next"])}


def stalls(process: Optional[Process] = None) -> Operation[list[Stall]]:
    """Of all processes, or of one."""
    return stalls_of((yield Call("_getStalls", _of_process(process))))


def loop_stats(process: Optional[Process] = None) -> Operation[Optional[LoopStats]]:
    return loop_stats_of((yield Call("_getLoopStats", _of_process(process))))


def _of_kind(kind: str) -> dict[str, Any]:
    return {} if kind == TIME else {"kind": kind}


def _of_process(process: Optional[Process]) -> dict[str, Any]:
    return {} if process is None else {"isolateId": process.id}


@dataclass(frozen=True)
class Wanted:
    """Of a profile."""

    since_us: int = 0
    processes: Optional[Iterable[Process]] = None  # None: all
    tid: Optional[int] = None  # None: all threads
    count: int = 0  # the oldest so many of each process; 0: all
    name: Optional[Namer] = None  # completes replies without names; then the list form is asked for
    pcs: bool = False  # frames tell theirs
    kind: str = TIME  # KINDS


def profile(wanted: Wanted) -> Operation[Profile]:
    known = yield from processes()
    chosen = known if wanted.processes is None else list(wanted.processes)
    gathered = Profile(pcs=wanted.pcs, kind=wanted.kind)
    gathered.meta["program"] = ", ".join(dict.fromkeys(process.name for process in chosen))
    one_by_one = wanted.processes is not None or wanted.count > 0
    targets: list[Optional[Process]] = list(chosen) if one_by_one else [None]
    try:
        has_tables = wanted.name is None
        if has_tables:
            has_tables = yield from _all_tables(gathered, targets, chosen, wanted)
        if not has_tables:
            yield from _all_lists(gathered, chosen, wanted)
    except RpcError as error:
        if len(gathered) or wanted.kind != TIME or error.code not in (METHOD_NOT_FOUND, INVALID_PARAMS):
            raise
        yield from _all_lists(gathered, chosen, wanted)
    gathered.complete()
    if wanted.tid is None:
        return gathered
    return gathered.choose(
        [i for i, t in enumerate(gathered.sample_threads) if gathered.threads[t].tid == wanted.tid]
    )


def _all_tables(
    gathered: Profile, targets: list[Optional[Process]], known: list[Process], wanted: Wanted
) -> Operation[bool]:
    """False: the service has no table form."""
    lost: Counter[str] = Counter()
    for target in targets:
        table = SamplesTable(wanted.kind)
        params: dict[str, Any] = {"form": "table", "timestamp": wanted.since_us, **_of_kind(wanted.kind)}
        params["count"] = wanted.count or PAGE
        if target is not None:
            params["isolateId"] = target.id
        while True:
            reply = yield Call("_getCpuSamples", params)
            if reply.get("type") == "Sentinel":
                break
            if reply.get("type") == "CpuSamples":
                return False
            told = table.add(reply)
            gathered.add_update(told, known)
            if wanted.count or not told.more:
                lost.update(told.lost)
                break
            params = {**params, "cursor": table.cursor}
    gathered.lost = lost
    return True


def _all_lists(gathered: Profile, chosen: list[Process], wanted: Wanted) -> Operation[None]:
    for process in chosen:
        samples = yield from cpu_samples(
            process, wanted.since_us, wanted.count or None, wanted.name, wanted.pcs, wanted.kind
        )
        if samples is not None:
            gathered.add(process, samples)


class Follower:
    """One reader's place in what a service samples; it outlives the connection."""

    def __init__(
        self,
        process: Optional[Process],
        since_us: int,
        count: int,
        available: bool = False,
        kind: str = TIME,
    ) -> None:
        self._asked = process, since_us, count, available, kind
        self._table = SamplesTable()
        self._connection = 0
        self._identity: Optional[tuple[Any, Any]] = None

    def next(self, connection: int) -> Operation[Optional[Update]]:
        """connection: the number of the client's. On another one it may be another service."""
        begun_anew = False
        if connection != self._connection:
            service = yield from identity()
            begun_anew = self._identity is not None and service != self._identity
            if begun_anew:
                self._table = SamplesTable()
            self._identity, self._connection = service, connection
        told = yield from update(self._table, *self._asked)
        return replace(told, reset=True) if told and begun_anew else told
