"""A service made of canned answers, and replies made of stacks.

    samples_reply({"main;work": 2, "main": 1})   outermost call first, as in folded stacks
"""

from __future__ import annotations

import asyncio
import json
from typing import Any, Callable, Mapping, Optional

from isoscope import Client, CpuSamples, Process
from isoscope.errors import ServiceEnded

Answer = Callable[[Mapping[str, Any]], Mapping[str, Any]]


class FakeService:
    """A Transport that answers each request from a table of methods."""

    def __init__(self, answers: Mapping[str, Answer]) -> None:
        self.answers = answers
        self.requests: list[dict[str, Any]] = []
        self.unread: list[str] = []
        self.closed = False
        self.ended = False
        self.timeout_s: Optional[float] = None
        self.errors: dict[str, Callable[[Mapping[str, Any]], Optional[int]]] = {}

    def send(self, text: str) -> None:
        request = json.loads(text)
        self.requests.append(request)
        answer = self.answers.get(request["method"])
        code = self.errors.get(request["method"], lambda params: None)(request["params"])
        if code is not None:
            reply = {"error": {"code": code, "message": "as the test wants it"}}
        elif answer is None:
            reply = {"error": {"code": -32601, "message": "Method not found"}}
        else:
            reply = {"result": answer(request["params"])}
        self.unread.append(json.dumps({"jsonrpc": "2.0", "id": request["id"], **reply}))

    def receive(self) -> bytes:
        if not self.unread:
            raise ServiceEnded("the service ended while it was being read")
        return self.unread.pop(0).encode()

    def set_timeout(self, timeout_s: Optional[float]) -> None:
        self.timeout_s = timeout_s

    def close(self) -> None:
        self.closed = True


class AsyncFake:
    """The same service, for an AsyncClient: replies come when the loop turns, in the order of
    `unread`."""

    def __init__(self, service: FakeService) -> None:
        self.service = service
        self._sent = asyncio.Event()

    async def send(self, text: str) -> None:
        self.service.send(text)
        self._sent.set()

    async def receive(self) -> bytes:
        while not self.service.unread and not self.service.ended:
            self._sent.clear()
            await self._sent.wait()
        return self.service.receive()

    async def close(self) -> None:
        self.service.close()


def samples_reply(stacks: Mapping[str, int], *, library: str = "app") -> dict[str, Any]:
    names = sorted({name for stack in stacks for name in stack.split(";")})
    ids = {name: f"functions/1/{i:x}" for i, name in enumerate(names)}
    samples = [
        {
            "timestamp": 1000 * n,
            "tid": 7,
            "stack": [
                {"function": {"type": "@Function", "id": ids[name]}, "kind": "Native"}
                for name in reversed(stack.split(";"))
            ],
        }
        for n, stack in enumerate(s for s, count in stacks.items() for _ in range(count))
    ]
    return {
        "type": "CpuSamples",
        "samplePeriod": 1000,
        "sampleCount": len(samples),
        "timeOriginMicros": 0,
        "timeExtentMicros": 1000 * len(samples),
        "samples": samples,
        "functions": [
            {"id": ids[name], "name": name, "owner": {"type": "@Library", "id": "libraries/1"}}
            for name in names
        ],
        "libraries": [{"id": "libraries/1", "uri": f"file:///usr/bin/{library}"}],
    }


def profile(
    stacks: Mapping[str, int], *, name: str = "app", pid: int = 42, library: str = ""
) -> tuple[Process, CpuSamples]:
    reply = samples_reply(stacks, library=library or name)
    return Process(f"isolates/{pid}", name), CpuSamples.parse(reply)


def service_of(processes: Mapping[str, Mapping[str, int]], *, profiler: bool = True) -> FakeService:
    """processes: "name:pid" -> stacks."""
    listed = [tuple(key.split(":")) for key in processes]
    replies = {
        f"isolates/{key.split(':')[1]}": samples_reply(stacks, library=key.split(":")[0])
        for key, stacks in processes.items()
    }
    isolates = [{"id": f"isolates/{pid}", "name": f"{name}:main()"} for name, pid in listed]
    flag = {"name": "profiler", "valueAsString": "true" if profiler else "false"}
    return FakeService(
        {
            "getVM": lambda params: {"type": "VM", "isolates": isolates},
            "getFlagList": lambda params: {"type": "FlagList", "flags": [flag]},
            # Older than the table form, which needs no isolateId.
            "_getCpuSamples": lambda params: replies.get(
                params.get("isolateId"), samples_reply({})
            ),
        }
    )


def event(kind: str, stream: str = "Profiler") -> str:
    """As it comes over the wire."""
    params = {"streamId": stream, "event": {"type": "Event", "kind": kind, "timestamp": 1}}
    return json.dumps({"jsonrpc": "2.0", "method": "streamNotify", "params": params})


def client_of(service: FakeService) -> Client:
    return Client(transport=service)
