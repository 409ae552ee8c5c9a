"""A service's client for asyncio; many calls at a time. The methods are those of client.Client.

    async with AsyncClient("http://127.0.0.1:8181/TOKEN=/") as client:
        profile = await client.profile()
        async for event in client.events("Profiler"): ...

One task reads the connection, and hands replies to the calls that wait and events to the inbox.

Needs      The package websockets (Debian: python3-websockets), on first use.
Ownership  The client owns its connection and its task; leaving the block ends both.
Threads    One event loop.
Errors     As errors.py lists them. A big profile is decoded in the loop: 8 MB take some 0.2 s.
"""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Any, AsyncIterator, Awaitable, Callable, Iterable, Mapping, Optional, TypeVar

from . import operations
from .async_transport import AsyncTransport, connect_websocket
from .backoff import Backoff
from .client import TIMEOUT_S
from .errors import CannotConnect, IsoscopeError, RpcError, ServiceEnded, TimedOut
from .events import Inbox
from .methods import AsyncMethods
from .model import CpuSamples, Process
from .operations import Namer, Operation, Wanted
from .model import TIME
from .profile import Profile
from .protocol import GetVMResult, Version
from .rpc import Conversation, Event, Reply
from .samples_table import Update
from .stalls import STREAM, LoopStats, Stall, StallEvent, stall_event
from .timeline import Timeline

T = TypeVar("T")
Connect = Callable[[], Awaitable[AsyncTransport]]


class AsyncClient:
    """Connects when its block is entered, or by connect()."""

    def __init__(
        self,
        uri: str = "",
        *,
        timeout_s: float = TIMEOUT_S,
        connect: Optional[Connect] = None,
        name: Optional[Namer] = None,
    ) -> None:
        """timeout_s: of each call. The rest is as for Client."""
        self._connect = connect or (lambda: connect_websocket(uri, timeout_s))
        self._timeout_s, self._name = timeout_s, name
        self._connections = 0
        self._inbox = Inbox()
        self._listening: list[str] = []
        self._transport: Optional[AsyncTransport] = None
        self._reader: Optional[asyncio.Task[None]] = None
        self.methods = AsyncMethods(self.call)  # all of the protocol's, typed

    async def __aenter__(self) -> AsyncClient:
        await self.connect()
        return self

    async def __aexit__(
        self,
        exc_type: Optional[type[BaseException]],
        exc: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        await self.close()

    async def connect(self) -> None:
        transport = await self._connect()
        self._transport = transport
        self._conversation = Conversation()
        self._waiting: dict[str, asyncio.Future[Reply]] = {}
        self._news = asyncio.Event()  # an event came, or the connection ended
        self._ended: Optional[IsoscopeError] = None
        self._connections += 1
        self._reader = asyncio.ensure_future(self._read(transport))
        try:
            for stream in self._listening:
                await self._do(operations.listen(stream))
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        """No error where there is no connection. Calls that wait end with ServiceEnded."""
        reader, transport = self._reader, self._transport
        self._reader = self._transport = None
        if transport is not None:
            self._end(ServiceEnded("this client was closed"))
            await transport.close()
        if reader is not None:
            reader.cancel()
            await asyncio.wait([reader])

    async def reconnect(
        self,
        backoff: Optional[Backoff] = None,
        *,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """As Client.reconnect."""
        await self.close()
        pauses = (backoff or Backoff()).pauses()
        while True:
            try:
                await self.connect()
                return
            except (CannotConnect, ServiceEnded) as error:
                pause = next(pauses, None)
                if pause is None:
                    raise error if isinstance(error, CannotConnect) else CannotConnect(str(error))
                await sleep(pause)

    async def _read(self, transport: AsyncTransport) -> None:
        try:
            while True:
                message = self._conversation.receive(await transport.receive())
                if isinstance(message, Event):
                    self._inbox.put(message)
                    self._news.set()
                elif message is not None and message.id in self._waiting:
                    waiting = self._waiting.pop(message.id)
                    if not waiting.done():
                        waiting.set_result(message)
        except IsoscopeError as error:
            self._end(error)
        finally:  # whatever it was, nobody may wait for ever
            self._end(ServiceEnded("the connection is no longer read"))

    def _end(self, error: IsoscopeError) -> None:
        """For every call that waits, and for those to come."""
        self._ended = self._ended or error
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(self._ended)
        self._waiting.clear()
        self._news.set()

    async def call(self, method: str, **params: Any) -> Mapping[str, Any]:
        """Sends one request and waits for its result."""
        if self._transport is None:
            raise ServiceEnded("this client is not connected: use it in `async with`")
        if self._ended is not None:
            raise self._ended
        request_id, text = self._conversation.request(method, params)
        answer: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self._waiting[request_id] = answer
        try:
            await self._transport.send(text)
            return (await asyncio.wait_for(answer, self._timeout_s)).unwrap()
        except asyncio.TimeoutError as error:
            raise TimedOut(f"{method}: no answer within {self._timeout_s:g} s") from error
        finally:
            self._waiting.pop(request_id, None)
            if answer.done() and not answer.cancelled():
                answer.exception()  # was told, or send() raised the same

    async def _do(self, operation: Operation[T]) -> T:
        try:
            call = next(operation)
            while True:
                try:
                    result = await self.call(call.method, **call.params)
                except RpcError as error:
                    call = operation.throw(error)
                else:
                    call = operation.send(result)
        except StopIteration as end:
            value: T = end.value
            return value

    # Streams.

    async def listen(self, *streams: str) -> None:
        for stream in streams:
            if stream not in self._listening:
                await self._do(operations.listen(stream))
                self._listening.append(stream)

    async def cancel(self, *streams: str) -> None:
        for stream in streams:
            if stream in self._listening:
                self._listening.remove(stream)
                await self.call("streamCancel", streamId=stream)

    async def events(
        self, *streams: str, timeout_s: Optional[float] = None
    ) -> AsyncIterator[Event]:
        """As Client.events; it listens from the first step on."""
        await self.listen(*streams)
        while True:
            yield await self.next_event(*streams, timeout_s=timeout_s)

    async def next_event(self, *streams: str, timeout_s: Optional[float] = None) -> Event:
        """As Client.next_event."""
        while True:
            event = self._inbox.take(streams)
            if event is not None:
                return event
            if self._transport is None:
                raise ServiceEnded("this client is not connected: use it in `async with`")
            if self._ended is not None:
                raise self._ended
            self._news.clear()
            try:
                await asyncio.wait_for(self._news.wait(), timeout_s)
            except asyncio.TimeoutError as error:
                raise TimedOut(f"no event within {timeout_s:g} s") from error

    @property
    def events_dropped(self) -> int:
        return self._inbox.dropped

    # What can be asked: as Client's.

    async def version(self) -> Version:
        return await self._do(operations.version())

    async def vm(self) -> GetVMResult:
        return await self._do(operations.vm())

    async def flags(self) -> dict[str, str]:
        return await self._do(operations.flags())

    async def set_flag(self, name: str, value: str) -> None:
        await self._do(operations.set_flag(name, value))

    async def processes(self) -> list[Process]:
        return await self._do(operations.processes())

    async def cpu_samples(
        self, process: Process, *, since_us: int = 0, count: Optional[int] = None
    ) -> Optional[CpuSamples]:
        return await self._do(operations.cpu_samples(process, since_us, count, self._name))

    async def profile(
        self,
        *,
        since_us: int = 0,
        processes: Optional[Iterable[Process]] = None,
        tid: Optional[int] = None,
        count: int = 0,
        pcs: bool = False,
        kind: str = TIME,
    ) -> Profile:
        wanted = Wanted(since_us, processes, tid, count, self._name, pcs, kind)
        return await self._do(operations.profile(wanted))

    async def timeline(self, *, process: Optional[Process] = None) -> Timeline:
        return await self._do(operations.timeline(process))

    async def stalls(self, *, process: Optional[Process] = None) -> list[Stall]:
        return await self._do(operations.stalls(process))

    async def loop_stats(self, *, process: Optional[Process] = None) -> Optional[LoopStats]:
        return await self._do(operations.loop_stats(process))

    async def stall_events(self, *, timeout_s: Optional[float] = None) -> AsyncIterator[StallEvent]:
        """As Client.stall_events; it listens from the first step on."""
        async for event in self.events(STREAM, timeout_s=timeout_s):
            told = stall_event(event)
            if told is not None:
                yield told

    async def session(self, *, sources: bool = False) -> bytes:
        return await self._do(operations.session(sources))

    def samples_table(
        self,
        process: Optional[Process] = None,
        *,
        since_us: int = 0,
        count: int = 0,
        available: bool = False,
        kind: str = TIME,
    ) -> AsyncSamples:
        return AsyncSamples(self, operations.Follower(process, since_us, count, available, kind))

    async def _follow(self, follower: operations.Follower) -> Optional[Update]:
        return await self._do(follower.next(self._connections))


class AsyncSamples(AsyncIterator[Update]):
    """As client.Samples."""

    def __init__(self, client: AsyncClient, follower: operations.Follower) -> None:
        self._client, self._follower = client, follower

    async def __anext__(self) -> Update:
        update = await self._client._follow(self._follower)
        if update is None:
            raise StopAsyncIteration
        return update
