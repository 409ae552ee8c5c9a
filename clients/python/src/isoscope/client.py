"""A service's client, one call at a time.

    with Client("http://127.0.0.1:8181/TOKEN=/") as client:
        for process in client.processes():
            samples = client.cpu_samples(process)
        for event in client.events("Profiler"): ...

async_client.py has the same for asyncio; what can be asked stands in operations.py for both.

Ownership  The Client owns its connection; leaving the with block closes it.
Threads    One at a time.
Errors     As errors.py lists them. A process that has gone is no error: it has no samples. After
           ServiceEnded, reconnect() goes on; nothing reconnects by itself.
"""

from __future__ import annotations

import time
from types import TracebackType
from typing import Any, Callable, Iterable, Iterator, Mapping, Optional, TypeVar

from . import operations
from .backoff import Backoff
from .errors import CannotConnect, IsoscopeError, RpcError, ServiceEnded
from .events import Inbox
from .methods import Methods
from .model import CpuSamples, Process
from .operations import Namer, Operation, Wanted
from .model import TIME
from .profile import Profile
from .protocol import GetVMResult, Version
from .rpc import Conversation, Event, Reply
from .samples_table import Update
from .stalls import STREAM, LoopStats, Stall, StallEvent, stall_event
from .timeline import Timeline
from .transport import Transport, WebSocketTransport

# The names of a big program's functions are read when first asked for, and that takes time.
TIMEOUT_S = 60.0

T = TypeVar("T")


class Client:
    """Connected from the start, or the constructor raises."""

    def __init__(
        self,
        uri: str = "",
        *,
        timeout_s: float = TIMEOUT_S,
        transport: Optional[Transport] = None,
        connect: Optional[Callable[[], Transport]] = None,
        name: Optional[Namer] = None,
    ) -> None:
        """name: completes replies of a service that has no names (naming.named). connect: makes a
        connection in another way than to uri; transport: one that is there already."""
        self._name = name
        self._timeout_s = timeout_s
        self._connect = connect or (lambda: WebSocketTransport(uri, timeout_s))
        self._can_connect = bool(uri or connect)
        self._transport = transport or self._connect()
        self._connections = 1  # so far
        self._conversation = Conversation()
        self._inbox = Inbox()
        self._listening: list[str] = []  # streams, in the order they were asked for
        self.methods = Methods(self.call)  # all of the protocol's, typed

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self,
        exc_type: Optional[type[BaseException]],
        exc: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        self.close()

    def close(self) -> None:
        self._transport.close()

    def reconnect(
        self, backoff: Optional[Backoff] = None, *, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        """A new connection in place of the one there is, with the same streams. Raises the last
        try's CannotConnect. Events that came are kept; followers of samples go on where they were,
        or begin anew (Update.reset) where another service answers now."""
        if not self._can_connect:
            raise CannotConnect("this client was given its connection, and no way to make another")
        self.close()
        pauses = (backoff or Backoff()).pauses()
        while True:
            try:
                self._begin_anew()
                return
            except (CannotConnect, ServiceEnded) as error:
                pause = next(pauses, None)
                if pause is None:
                    raise error if isinstance(error, CannotConnect) else CannotConnect(str(error))
                sleep(pause)

    def _begin_anew(self) -> None:
        self._transport = self._connect()
        self._conversation = Conversation()
        self._connections += 1
        try:
            for stream in self._listening:
                self._do(operations.listen(stream))
        except IsoscopeError:
            self._transport.close()
            raise

    def call(self, method: str, **params: Any) -> Mapping[str, Any]:
        """Sends one request and waits for its result."""
        request_id, text = self._conversation.request(method, params)
        self._transport.send(text)
        while True:
            message = self._conversation.receive(self._transport.receive())
            if isinstance(message, Reply) and message.id == request_id:
                return message.unwrap()
            if isinstance(message, Event):
                self._inbox.put(message)

    def _do(self, operation: Operation[T]) -> T:
        try:
            call = next(operation)
            while True:
                try:
                    result = self.call(call.method, **call.params)
                except RpcError as error:
                    call = operation.throw(error)
                else:
                    call = operation.send(result)
        except StopIteration as end:
            value: T = end.value
            return value

    # Streams.

    def listen(self, *streams: str) -> None:
        """From now on their events come, also after reconnect(). No error where they do already."""
        for stream in streams:
            if stream not in self._listening:
                self._do(operations.listen(stream))
                self._listening.append(stream)

    def cancel(self, *streams: str) -> None:
        for stream in streams:
            if stream in self._listening:
                self._listening.remove(stream)
                self.call("streamCancel", streamId=stream)

    def events(self, *streams: str, timeout_s: Optional[float] = None) -> Iterator[Event]:
        """What these streams send, from when this is called; without end. None: waits for as long
        as it takes, else TimedOut. ServiceEnded when the service goes. Each event is given once."""
        self.listen(*streams)
        return self._events(streams, timeout_s)

    def _events(self, streams: tuple[str, ...], timeout_s: Optional[float]) -> Iterator[Event]:
        while True:
            yield self.next_event(*streams, timeout_s=timeout_s)

    def next_event(self, *streams: str, timeout_s: Optional[float] = None) -> Event:
        """The oldest event of these streams (of all: no streams) that was not read yet; waits for
        one where there is none. What came while a call waited is not lost."""
        while True:
            event = self._inbox.take(streams)
            if event is not None:
                return event
            self._transport.set_timeout(timeout_s)
            try:
                message = self._conversation.receive(self._transport.receive())
            finally:
                self._transport.set_timeout(self._timeout_s)
            if isinstance(message, Event):
                self._inbox.put(message)

    @property
    def events_dropped(self) -> int:
        """That nobody read in time (events.KEPT)."""
        return self._inbox.dropped

    # What can be asked.

    def version(self) -> Version:
        return self._do(operations.version())

    def vm(self) -> GetVMResult:
        return self._do(operations.vm())

    def flags(self) -> dict[str, str]:
        return self._do(operations.flags())

    def set_flag(self, name: str, value: str) -> None:
        """RpcError where the service does not take it."""
        self._do(operations.set_flag(name, value))

    def processes(self) -> list[Process]:
        """In order of arrival; ended ones stay listed while they have samples. Threads that are
        isolates too are left out: their samples are among their process'."""
        return self._do(operations.processes())

    def cpu_samples(
        self, process: Process, *, since_us: int = 0, count: Optional[int] = None
    ) -> Optional[CpuSamples]:
        """The oldest `count` samples since `since_us`; None when the process is gone."""
        return self._do(operations.cpu_samples(process, since_us, count, self._name))

    def profile(
        self,
        *,
        since_us: int = 0,
        processes: Optional[Iterable[Process]] = None,
        tid: Optional[int] = None,
        count: int = 0,
        pcs: bool = False,
        kind: str = TIME,
    ) -> Profile:
        """Every sample since since_us, of all processes or of those given; of one thread where a
        tid is given; at most the oldest count of each process, 0: all. pcs: frames tell where in
        their module they were, for disassembly and the like. kind: "time"; "alloc": allocations,
        sampled by their bytes; "live": those that have not been freed; "lock": waits for
        locks that another thread had; "wait": those for condition variables and the like."""
        return self._do(
            operations.profile(Wanted(since_us, processes, tid, count, self._name, pcs, kind))
        )

    def timeline(self, *, process: Optional[Process] = None) -> Timeline:
        """What programs told: slices, instants, counters, flows and frames; of all processes, or of
        one. RpcError where the service has no such thing."""
        return self._do(operations.timeline(process))

    def stalls(self, *, process: Optional[Process] = None) -> list[Stall]:
        """Dispatches of loops that took too long, in the order in which they last changed; of all
        processes, or of one. RpcError where the service has no such thing."""
        return self._do(operations.stalls(process))

    def loop_stats(self, *, process: Optional[Process] = None) -> Optional[LoopStats]:
        """Which loops are watched, and how long their dispatches took. None: the process is gone."""
        return self._do(operations.loop_stats(process))

    def stall_events(self, *, timeout_s: Optional[float] = None) -> Iterator[StallEvent]:
        """Stalls as they begin, change and end; else as events()."""
        for event in self.events(STREAM, timeout_s=timeout_s):
            told = stall_event(event)
            if told is not None:
                yield told

    @property
    def arrived_bytes(self) -> int:
        """On this connection so far; of a reply that takes long, from another thread, how far it has come."""
        return int(getattr(self._transport, "arrived", 0))

    def session(self, *, sources: bool = False) -> bytes:
        """All that the service has, as a session file (formats/session.py reads it); sources: with
        the text of sampled source files that it gives."""
        return self._do(operations.session(sources))

    def samples_table(
        self,
        process: Optional[Process] = None,
        *,
        since_us: int = 0,
        count: int = 0,
        available: bool = False,
        kind: str = TIME,
    ) -> Samples:
        """What is new, for views that follow: each step asks once, and costs what is new.

        None: of all processes. count: at most so many samples a step; 0: all. available: do not
        wait for names; those that come later are told in Update.renamed. kind: as in profile. Ends when the process is
        gone. Pace it yourself, or by the event _SamplesAvailable.
        """
        return Samples(self, operations.Follower(process, since_us, count, available, kind))

    def _follow(self, follower: operations.Follower) -> Optional[Update]:
        return self._do(follower.next(self._connections))


class Samples(Iterator[Update]):
    """Client.samples_table: an iterator that goes on after an error, once the client has
    reconnected."""

    def __init__(self, client: Client, follower: operations.Follower) -> None:
        self._client, self._follower = client, follower

    def __next__(self) -> Update:
        update = self._client._follow(self._follower)
        if update is None:
            raise StopIteration
        return update
