#!/usr/bin/env python3
"""Asks a service what dart_vm.json says was asked of a real Dart VM, and compares the answers.

    ISOSCOPE_BUILD=build tests/conformance/replay.py [TOPIC...]     prints the report

Each topic has a program of its own, because some of the requests change things. A difference is
fine when allowed.json has it, with its reason; see README.md.
"""

from __future__ import annotations

import fnmatch
import http.client
import itertools
import json
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Iterator, Optional

import websocket

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "live")]

from harness import Service, service_of, until, workload  # noqa: E402
from shapes import Difference, Shapes  # noqa: E402
from wire_schema import WireChecker  # noqa: E402

Json = Any
DART_VM = json.loads((HERE / "dart_vm.json").read_text())
ANSWER_S = 10
REFUSALS = (-32700, -32600, -32601, -32602, -32603)


class Socket:
    """One client. What it hears stays in its inbox until somebody asks."""

    def __init__(self, uri: str) -> None:
        self.uri = uri
        self.inbox: list[Json] = []
        self.called: list[Json] = []  # ids of requests to this client
        self.ids = itertools.count(1)
        self.connect()

    def connect(self) -> None:
        self.inbox.clear()
        self.checker = WireChecker()
        self.closed: Optional[int] = None
        self.socket = websocket.create_connection(
            self.uri.replace("http:", "ws:") + "ws", timeout=ANSWER_S, skip_utf8_validation=True)

    def send(self, text: str) -> None:
        self.checker.sent(text)
        self.socket.send(text)

    def read(self) -> None:
        """One more message, or the close."""
        try:
            opcode, frame = self.socket.recv_data_frame(control_frame=True)
        except (websocket.WebSocketConnectionClosedException, ConnectionError):
            self.closed = self.closed or 1006
            return
        if opcode == websocket.ABNF.OPCODE_CLOSE:
            self.closed = int.from_bytes(frame.data[:2], "big")
        elif opcode == websocket.ABNF.OPCODE_TEXT:
            message = json.loads(frame.data)
            if "method" not in message or message["method"] == "streamNotify":
                self.checker.received(frame.data.decode())
            self.inbox.append(message)

    def take(self, matches) -> Optional[tuple[Json, list[str]]]:
        """The first message that matches, and the kinds of the events before it; None when the
        service closed, or said nothing in time."""
        position = 0
        deadline = time.monotonic() + ANSWER_S
        while self.closed is None and time.monotonic() < deadline:
            while position < len(self.inbox):
                message = self.inbox[position]
                if matches(message):
                    before = [m for m in self.inbox[:position] if m.get("method") == "streamNotify"]
                    del self.inbox[: position + 1]
                    return message, [m["params"]["event"]["kind"] for m in before]
                position += 1
            try:
                self.read()
            except websocket.WebSocketTimeoutException:
                return None
        return None

    def rpc(self, method: str, **params: Json) -> Json:
        name = f"replay-{next(self.ids)}"
        request = {"jsonrpc": "2.0", "id": name, "method": method, "params": params}
        self.send(json.dumps(request))
        answer = self.take(lambda message: message.get("id") == name)
        assert answer, f"{method}: no answer"
        return answer[0].get("result")


@dataclass
class Report:
    asked: int = 0
    left_out: Counter[str] = field(default_factory=Counter)  # by placeholder
    found: dict[Difference, list[str]] = field(default_factory=dict)  # with the requests

    def add(self, difference: Difference, request: Json) -> None:
        self.found.setdefault(difference, []).append(json.dumps(request)[:300])


class NotHere(Exception):
    """A native program has no such thing."""


class Replay:
    """One topic against one service."""

    def __init__(self, service: Service, report: Report) -> None:
        self.service = service
        self.report = report
        self.shapes = Shapes(DART_VM["types"])
        self.sockets: dict[str, Socket] = {}
        self.probes = itertools.count(1)
        self.places = Places(service, self.socket("A"))

    def socket(self, client: str) -> Socket:
        if client not in self.sockets:
            self.sockets[client] = Socket(self.service.uri)
        return self.sockets[client]

    def run(self, steps: list[Json]) -> None:
        """A request that needs another client's help is settled after that client's part."""
        pending: Optional[Json] = None
        for step in steps:
            if "called" in step:
                self.hear_call(step)
            elif is_answer(step):
                self.answer_call(step)
            else:
                self.settle(pending)
                pending = self.ask(step)
        self.settle(pending)

    def ask(self, step: Json) -> Optional[Json]:
        """Sends it; what is given back is to be settled."""
        where = Http.where(step["http"]) if "http" in step else ""
        try:
            step = self.places.filled(step)
        except NotHere as reason:
            self.report.left_out[str(reason)] += 1
            return None
        self.report.asked += 1
        if "http" in step:
            for difference in Http(self.service, self.shapes).differences(step, where):
                self.report.add(difference, step["http"]["path"])
            return None
        text = step["send"] if isinstance(step["send"], str) else json.dumps(step["send"])
        socket = self.socket(step["client"])
        if socket.closed is not None:
            socket.connect()
        socket.inbox.clear()
        socket.send(text)
        return step

    def hear_call(self, step: Json) -> None:
        socket = self.socket(step["client"])
        call = socket.take(lambda message: message.get("method") == step["called"])
        if call is None:
            self.report.add(Difference("registerService", "the callee was not called"), step)
            return
        if sorted(call[0].get("params", {})) != step["params"]:
            self.report.add(Difference("registerService", "the callee got other params"), step)
        socket.called.append(call[0]["id"])

    def answer_call(self, step: Json) -> None:
        socket = self.socket(step["client"])
        if socket.called:
            socket.send(json.dumps({**step["send"], "id": socket.called.pop()}))

    def settle(self, step: Optional[Json]) -> None:
        if step is None:
            return
        request = step["send"]
        where = str(request.get("method")) if isinstance(request, dict) else "the connection"
        for what in self.verdicts(step, where):
            difference = what if isinstance(what, Difference) else Difference(where, what)
            self.report.add(difference, request)

    def verdicts(self, step: Json, where: str) -> Iterator[Any]:
        socket, expected = self.socket(step["client"]), step["expect"]
        if expected.get("error") == 112:  # the callee is gone while it is asked
            self.sockets.pop("A").socket.close()
        if "close" in expected:
            yield from self.closing(socket, expected)
        elif "dies" in expected:
            yield from self.refusal(socket)
        elif "nothing" in expected:
            yield from self.silence(socket)
        else:
            yield from self.reply(socket, step, where)

    def closing(self, socket: Socket, expected: Json) -> Iterator[str]:
        socket.take(lambda message: "id" in message)
        if socket.closed != expected["close"]:
            yield f"closed with {socket.closed} instead of {expected['close']}"

    def refusal(self, socket: Socket) -> Iterator[str]:
        """What ends the real VM for everybody is refused here, and everybody goes on."""
        answer = socket.take(lambda message: "id" in message and "method" not in message)
        if answer and answer[0].get("error", {}).get("code") not in REFUSALS:
            yield f"neither refused nor closed: {json.dumps(answer[0])[:200]}"
        elif not answer and socket.closed is None:
            yield "no answer"
        assert Socket(self.service.uri).rpc("getVersion"), "the service is gone"

    def silence(self, socket: Socket) -> Iterator[str]:
        name = f"probe-{next(self.probes)}"
        socket.send(json.dumps({"jsonrpc": "2.0", "id": name, "method": "getVersion"}))
        answer = socket.take(lambda message: "id" in message and "method" not in message)
        if answer is None or answer[0]["id"] != name:
            yield "answered, where the VM is silent"

    def reply(self, socket: Socket, step: Json, where: str) -> Iterator[Any]:
        expected, request = step["expect"], step["send"]
        answer = socket.take(lambda m: "method" not in m and same_id(m["id"], request.get("id")))
        if answer is None:
            closed = f"closed with {socket.closed}" if socket.closed else "no answer"
            yield closed
            return
        message, before = answer
        for kind in set(expected.get("after", [])) - set(before):
            yield f"{kind} did not come before the reply"
        yield from outcome_differences(self.shapes, message, expected, where)


def outcome_differences(shapes: Shapes, message: Json, expected: Json, where: str) -> Iterator[Any]:
    """Of a result or an error, over either transport."""
    wanted = expected.get("result", f"error {expected.get('error')}")
    if "error" in message:
        yield from error_differences(message["error"], expected, wanted)
    elif "error" in expected:
        kind = message["result"].get("type")
        yield f"{kind} instead of {wanted}"
    else:
        yield from shapes.differences(message["result"], where, {wanted})


def error_differences(error: Json, expected: Json, wanted: str) -> Iterator[str]:
    if error["code"] != expected.get("error"):
        yield f"error {error['code']} instead of {wanted}"
        return
    data = sorted(error.get("data", {}))
    if data != expected["data"]:
        yield f"error {error['code']}: data has {data} instead of {expected['data']}"
    details = str(error.get("data", {}).get("details"))
    for word in expected["repeats"]:
        if word not in details:
            yield f"error {error['code']}: the details do not name {word}"


def same_id(ours: Json, theirs: Json) -> bool:
    """With its type. What is beyond 64 bits comes back as a double."""
    if isinstance(theirs, int) and not isinstance(theirs, bool) and abs(theirs) >= 2**63:
        return ours == float(theirs)
    return type(ours) is type(theirs) and ours == theirs


def is_answer(step: Json) -> bool:
    """By the client, to a request of the service's."""
    sent = step.get("send")
    return isinstance(sent, dict) and str(sent.get("id")).startswith("sr") and "method" not in sent


class Http:
    def __init__(self, service: Service, shapes: Shapes) -> None:
        self.service = service
        self.shapes = shapes

    @staticmethod
    def where(request: Json) -> str:
        path = request["path"].partition("?")[0].removeprefix("/$token=") or "/"
        line = f"{request['method']} {path}"
        headers = [f"{name}: {value}" for name, value in request["headers"].items()
                   if name not in ("Connection", "Upgrade", "Sec-WebSocket-Key")]
        return " ".join([line, *headers]).replace(" Sec-WebSocket-Version: 13", "")

    def differences(self, step: Json, where: str) -> Iterator[Difference]:
        request, expected = step["http"], step["answer"]
        status, kind, headers, body = self.ask(request)
        for name, ours in (("status", status), ("type", kind)):
            if expected.get(name, ours) != ours and not (name == "type" and status == 101):
                yield Difference(where, f"{name} {ours} instead of {expected[name]}")
        if "dies" in expected and status < 400:
            yield Difference(where, f"status {status}, where the VM dies")
        if expected.get("location") == "relative" and "://" in headers.get("location", "://"):
            yield Difference(where, "location is not relative")
        if ("result" in expected or "error" in expected) and status == expected["status"]:
            method = request["path"].partition("?")[0].rpartition("/")[2]
            for what in outcome_differences(self.shapes, json.loads(body), expected, method):
                yield what if isinstance(what, Difference) else Difference(where, what)

    def ask(self, request: Json) -> tuple[int, str, dict[str, str], bytes]:
        port = int(self.service.uri.split(":")[2].split("/")[0])
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=ANSWER_S)
        body = request["body"].encode() if request["body"] else None
        connection.request(request["method"], request["path"], body, request["headers"])
        try:
            answer = connection.getresponse()
        except ConnectionError:  # closed without a word
            return 0, "", {}, b""
        headers = {name.lower(): value for name, value in answer.getheaders()}
        text = b"" if answer.status == 101 else answer.read()
        connection.close()
        return answer.status, headers.get("content-type", "").split(";")[0], headers, text


class Places:
    """What the placeholders stand for in this service."""

    def __init__(self, service: Service, socket: Socket) -> None:
        self.token = service.uri.split("/")[3].rstrip("=")
        vm = until(lambda: (v := socket.rpc("getVM"))["isolates"] and v, "the program's isolate")
        isolate = vm["isolates"][0]
        samples = until(lambda: (s := socket.rpc("getCpuSamples", isolateId=isolate["id"]))
                        and s["sampleCount"] > 100 and s, "samples")
        functions = [f["function"] for f in samples["functions"]]
        self.values: dict[str, Json] = {
            "$isolate": isolate["id"],
            "$group": isolate["isolateGroupId"],
            "$systemIsolate": next((i["id"] for i in vm["systemIsolates"]), None),
            "$library": socket.rpc("getIsolate", isolateId=isolate["id"])["rootLib"]["id"],
            "$function": next((f["id"] for f in functions if "id" in f), None),
            "$script": next((f["location"]["script"]["id"] for f in functions
                             if "location" in f), None),
            "$code": None,
            "$object": None,
            "$origin": samples["samples"][0]["timestamp"],
            "$originText": str(samples["samples"][0]["timestamp"]),
        }

    def filled(self, value: Json) -> Json:
        if isinstance(value, dict):
            return {name: self.filled(member) for name, member in value.items()}
        if isinstance(value, list):
            return [self.filled(one) for one in value]
        if not isinstance(value, str) or "$" not in value:
            return value
        if value in self.values:
            if self.values[value] is None:
                raise NotHere(value)
            return self.values[value]
        for name in ("$isolate", "$originText", "$origin"):
            value = value.replace(name, str(self.values[name]).replace("/", "%2F"))
        for padding, ours in (("=", "=="), ("%3D", "%3D%3D"), ("", "")):
            value = value.replace(f"$token{padding}", f"{self.token}{ours}")
        return value


def replayed(topics: list[str]) -> Report:
    report = Report()
    for topic in topics:
        started = time.monotonic()
        with service_of([workload("spin_two_to_one"), "1000"]) as service:
            steps = DART_VM["topics"][topic]
            if topic == "http":  # recorded without a token
                steps = [with_token(step) for step in steps]
            Replay(service, report).run(steps)
        print(f"{topic}: {time.monotonic() - started:.1f} s", file=sys.stderr)
    return report


def with_token(step: Json) -> Json:
    if "http" not in step:
        return step
    return {**step, "http": {**step["http"], "path": "/$token=" + step["http"]["path"]}}


@dataclass
class Allowed:
    """allowed.json: a list of {where, what, reason}; where and what are patterns."""

    entries: list[dict[str, str]]

    @classmethod
    def load(cls) -> Allowed:
        return cls(json.loads((HERE / "allowed.json").read_text()))

    def entry(self, difference: Difference) -> Optional[dict[str, str]]:
        return next((e for e in self.entries if fnmatch.fnmatchcase(difference.where, e["where"])
                     and fnmatch.fnmatchcase(difference.what, e["what"])), None)

    def unused(self, report: Report) -> list[dict[str, str]]:
        used = [id(self.entry(difference)) for difference in report.found]
        return [entry for entry in self.entries if id(entry) not in used]


def main() -> None:
    report, allowed = replayed(sys.argv[1:] or list(DART_VM["topics"])), Allowed.load()
    print(f"{report.asked} requests asked; left out because there is nothing to name: "
          f"{dict(report.left_out)}")
    for difference, requests in sorted(report.found.items(), key=lambda item: str(item[0])):
        entry = allowed.entry(difference)
        print(f"{'allowed' if entry else 'DIFFERS'}  {difference.where}: {difference.what}  "
              f"({len(requests)}x)\n    {entry['reason'] if entry else requests[0]}")
    for entry in allowed.unused(report) if len(sys.argv) == 1 else []:
        print(f"UNUSED   {entry['where']}: {entry['what']}")


if __name__ == "__main__":
    main()
