"""A service made of canned answers, and replies made of stacks.

    samples_reply({"main;work": 2, "main": 1})   outermost call first, as in folded stacks
"""

from __future__ import annotations

import json
from typing import Any, Callable, Mapping

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

    def send(self, text: str) -> None:
        request = json.loads(text)
        self.requests.append(request)
        answer = self.answers.get(request["method"])
        if answer is None:
            reply = {"error": {"code": -32601, "message": "Method not found"}}
        else:
            reply = {"result": answer(request["params"])}
        self.unread.append(json.dumps({"jsonrpc": "2.0", "id": request["id"], **reply}))

    def receive(self) -> bytes:
        if not self.unread:
            raise ServiceEnded("the service ended while it was being read")
        return self.unread.pop(0).encode()

    def close(self) -> None:
        self.closed = True


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


def profile(stacks: Mapping[str, int], *, name: str = "app", pid: int = 42) -> tuple[Process, CpuSamples]:
    reply = samples_reply(stacks, library=name)
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
            "_getCpuSamples": lambda params: replies[params["isolateId"]],
        }
    )


def client_of(service: FakeService) -> Client:
    return Client(transport=service)
