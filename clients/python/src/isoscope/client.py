"""A service's client, one call at a time.

    with Client("http://127.0.0.1:8181/TOKEN=/") as client:
        for process in client.processes():
            samples = client.cpu_samples(process)

Ownership  The Client owns its connection; leaving the with block closes it.
Threads    One at a time.
Errors     As errors.py lists them. A process that has gone is no error: it has no samples.
"""

from __future__ import annotations

from types import TracebackType
from typing import Any, Callable, Iterator, Mapping, Optional, cast

from .errors import ProtocolError
from .model import CpuSamples, Process, is_thread
from .protocol import GetFlagListResult, GetVMResult, PrivateGetCpuSamplesParams
from .rpc import Conversation, Event, Reply
from .table import SamplesTable, Update
from .transport import Transport, WebSocketTransport

# The names of a big program's functions are read when first asked for, and that takes time.
TIMEOUT_S = 60.0


class Client:
    """Connected from the start, or the constructor raises."""

    def __init__(
        self,
        uri: str = "",
        *,
        timeout_s: float = TIMEOUT_S,
        transport: Optional[Transport] = None,
        name: Optional[Callable[[Mapping[str, Any]], Mapping[str, Any]]] = None,
    ) -> None:
        """name: completes replies of a service that has no names (naming.named)."""
        self._name = name
        self._transport = transport or WebSocketTransport(uri, timeout_s)
        self._conversation = Conversation()

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

    def call(self, method: str, **params: Any) -> Mapping[str, Any]:
        """Sends one request and waits for its result."""
        request_id, text = self._conversation.request(method, params)
        self._transport.send(text)
        while True:
            message = self._conversation.receive(self._transport.receive())
            if isinstance(message, Reply) and message.id == request_id:
                return message.unwrap()

    def next_event(self) -> Event:
        """Waits for what a stream sends: call("streamListen", streamId="Profiler") first. Events that
        come while a call waits are lost."""
        while True:
            message = self._conversation.receive(self._transport.receive())
            if isinstance(message, Event):
                return message

    def processes(self) -> list[Process]:
        """In order of arrival; ended ones stay listed while they have samples. Threads that are
        isolates too are left out: their samples are among their process'."""
        isolates = cast(GetVMResult, self.call("getVM")).get("isolates")
        if not isinstance(isolates, list):
            raise ProtocolError("getVM: the reply has no list of isolates")
        return [Process.parse(isolate) for isolate in isolates if not is_thread(isolate)]

    def cpu_samples(
        self, process: Process, *, since_us: int = 0, count: Optional[int] = None
    ) -> Optional[CpuSamples]:
        """The oldest `count` samples since `since_us`; None when the process is gone."""
        params: PrivateGetCpuSamplesParams = {"isolateId": process.id, "timestamp": since_us}
        if count is not None:
            params["count"] = count
        reply = self.call("_getCpuSamples", **params)
        if reply.get("type") == "Sentinel":
            return None
        return CpuSamples.parse(self._name(reply) if self._name else reply)

    def samples_table(
        self,
        process: Optional[Process] = None,
        *,
        since_us: int = 0,
        count: int = 0,
        available: bool = False,
    ) -> Iterator[Update]:
        """What is new, for views that follow: each step asks once, and costs what is new.

        None: of all processes. count: at most so many samples a step; 0: all. available: do not
        wait for names; those that come later are told in Update.renamed. Ends when the process is
        gone. Pace it yourself, or by the event _SamplesAvailable.
        """
        table = SamplesTable()
        while True:
            params: dict[str, Any] = {"form": "table", "timestamp": since_us, "count": count}
            if process is not None:
                params["isolateId"] = process.id
            if available:
                params["symbols"] = "available"
            if table.cursor:
                params["cursor"] = table.cursor
            reply = self.call("_getCpuSamples", **params)
            if reply.get("type") == "Sentinel":
                return
            yield table.add(reply)

    def flags(self) -> dict[str, str]:
        entries = cast(GetFlagListResult, self.call("getFlagList")).get("flags")
        if not isinstance(entries, list):
            raise ProtocolError("getFlagList: the reply has no list of flags")
        return {str(f.get("name")): str(f.get("valueAsString")) for f in entries}
