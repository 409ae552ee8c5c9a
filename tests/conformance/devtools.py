#!/usr/bin/env python3
"""Does on the wire what Dart DevTools does, and trips where it would trip.

    ISOSCOPE_BUILD=build tests/conformance/devtools.py URI [SCREEN...]

CONNECT is what it sends first, in its order, and SCREENS what its screens ask for. A request names
what DevTools reads of the reply without looking whether it is there: a path, and a check. In a path,
[] is each element. A check is a function of the value; what is not there fails.

An error reply must have an object as its data, or none: a string there leaves DevTools waiting.
"""

from __future__ import annotations

import base64
import itertools
import json
import sys
import time
from collections import deque
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Callable, Iterator, Optional

import websocket

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "schemas")]

from wire_schema import WireChecker  # noqa: E402

Json = Any
ANSWER_S = 30
WHOLE_BUFFER = 1 << 52  # the extent DevTools asks for


class Tripped(AssertionError):
    """DevTools would show an error, nothing, or something wrong."""


# What is read of a value.


def text(value: Json) -> bool:
    return isinstance(value, str)


def filled(value: Json) -> bool:
    return isinstance(value, str) and value != ""


def integer(value: Json) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def positive(value: Json) -> bool:
    return integer(value) and value > 0


def number(value: Json) -> bool:
    return integer(value) or isinstance(value, float)


def boolean(value: Json) -> bool:
    return isinstance(value, bool)


def is_list(value: Json) -> bool:
    return isinstance(value, list)


def base64_bytes(value: Json) -> bool:
    return isinstance(value, str) and base64.b64decode(value, validate=True) is not None


def exactly(*values: Json) -> Callable[[Json], bool]:
    return lambda value: value in values


Reads = dict[str, Callable[[Json], bool]]


@dataclass
class Ask:
    method: str
    params: Json = field(default_factory=dict)
    reads: Reads = field(default_factory=dict)
    # What DevTools does with an error: "fatal" ends the connection or the screen; "caught" is fine;
    # "refused": it shows the error, and there has to be one.
    error: str = "fatal"


ISOLATE_REF: Reads = {"id": filled, "name": filled, "number": filled, "isSystemIsolate": boolean}
ISOLATE: Reads = {
    "id": filled,
    "name": filled,
    "runnable": exactly(True),  # else it waits for IsolateRunnable for ever
    "pauseEvent.kind": exactly("Resume"),  # None counts as paused
    "rootLib.uri": filled,
    "rootLib.id": filled,
    "libraries[].uri": filled,
    "extensionRPCs": is_list,
    "breakpoints": is_list,
    "isolateFlags": is_list,
    "exceptionPauseMode": filled,
    "livePorts": integer,
    "pauseOnExit": boolean,
    "startTime": positive,
}
FLAGS: Reads = {"flags[].name": filled, "flags[].valueAsString": text, "flags[].comment": text,
                "flags[].modified": boolean}
VM: Reads = {
    "version": filled,
    "name": filled,
    "operatingSystem": filled,
    "hostCPU": text,
    "targetCPU": filled,
    "architectureBits": exactly(32, 64),
    "pid": positive,
    "startTime": positive,
    "_currentRSS": positive,  # the memory chart throws twice a second without
    "systemIsolates": is_list,
    "isolateGroups[].id": filled,
    "systemIsolateGroups": is_list,
    **{f"isolates[].{path}": check for path, check in ISOLATE_REF.items()},
}
STREAMS = ("Debug", "Extension", "GC", "Isolate", "Logging", "Stderr", "Stdout", "Timeline", "VM",
           "Service")

# The order of contract A. $isolate is the isolate that DevTools picks, $root its rootLib.uri.
BEFORE_STREAMS = [
    Ask("getSupportedProtocols", reads={"protocols[].protocolName": filled}),
    Ask("getVersion", reads={"major": exactly(3, 4), "minor": integer}),
    Ask("setFlag", {"name": "pause_isolates_on_start", "value": "true"}, error="caught"),
    Ask("requirePermissionToResume",
        {"onPauseStart": True, "onPauseReload": False, "onPauseExit": False}, error="caught"),
    Ask("getFlagList", reads=FLAGS),
]
HISTORIES = [Ask("getStreamHistory", {"stream": stream}, {"history": is_list})
             for stream in ("Extension", "Stderr")]
AFTER_STREAMS = [
    Ask("getVMTimelineFlags", reads={"recorderName": text, "availableStreams[]": filled,
                                     "recordedStreams": is_list}),
    Ask("lookupResolvedPackageUris", {"isolateId": "$isolate", "uris": ["$root"]},
        {"uris": is_list}),
    Ask("getIsolate", {"isolateId": "$isolate"}, ISOLATE),
    Ask("getScripts", {"isolateId": "$isolate"}, {"scripts": is_list}),
    Ask("getIsolate", {"isolateId": "$isolate"}, ISOLATE),
    Ask("getDartDevelopmentServiceVersion", {}, {"major": integer, "minor": integer},
        error="caught"),
    Ask("readyToResume", {"isolateId": "$isolate"}, error="caught"),
]
MEMORY_USAGE: Reads = {"heapUsage": integer, "heapCapacity": integer, "externalUsage": integer}
HEAP = ("used", "capacity", "external")
SCREENS: dict[str, list[Ask]] = {
    "memory": [
        Ask("getMemoryUsage", {"isolateId": "$isolate"}, MEMORY_USAGE),
        Ask("getVM", reads={"_currentRSS": positive}),
        Ask("_getAllocationProfile", {"isolateId": "$isolate"}, {
            "members": is_list,
            **{f"memoryUsage.{path}": check for path, check in MEMORY_USAGE.items()},
            **{f"_heaps.{space}.{name}": integer for space in ("new", "old") for name in HEAP[:2]},
            "_heaps.new.collections": positive,  # a divisor
            "_heaps.old.collections": positive,
            "_heaps.new.time": number,
            "_heaps.old.time": number,
        }),
        Ask("getClassList", {"isolateId": "$isolate"}, {"classes": is_list}),
    ],
    "performance": [
        Ask("setVMTimelineFlags", {"recordedStreams": ["Dart", "Embedder", "GC"]}),
        Ask("getVMTimelineFlags", reads={"availableStreams[]": filled, "recordedStreams": is_list}),
        Ask("getVMTimelineMicros", reads={"timestamp": positive}),
        Ask("getPerfettoVMTimeline", {"timeOriginMicros": 1, "timeExtentMicros": WHOLE_BUFFER},
            {"trace": base64_bytes}),
        Ask("clearVMTimeline"),
    ],
    "logging": [
        Ask("getStreamHistory", {"stream": stream}, {"history": is_list})
        for stream in ("Stdout", "Stderr", "Logging", "Extension", "Timer")
    ],
    "vm-tools": [
        Ask("getVM", reads={"_embedder": text, "_profilerMode": text, "_currentMemory": integer,
                            "_currentRSS": integer, "_maxRSS": integer}),
        Ask("getIsolate", {"isolateId": "$isolate"}, {
            "_tagCounters.names": is_list, "_tagCounters.counters": is_list,
            **{f"_heaps.{space}.{name}": integer for space in ("new", "old") for name in HEAP}}),
        Ask("getPorts", {"isolateId": "$isolate"}, {"ports": is_list}),
        Ask("getProcessMemoryUsage", {}, {
            "root.name": filled, "root.description": text, "root.size": integer,
            "root.children[].name": filled, "root.children[].size": integer,
            "root.children[].description": text, "root.children[].children": is_list}),
        Ask("getIsolateGroup", {"isolateGroupId": "$group"}, {"isolates[].id": filled}),
    ],
    "network": [
        Ask("ext.dart.io.getVersion", {"isolateId": "$isolate"},
            {"major": integer, "minor": integer}),
        Ask("ext.dart.io.getSocketProfile", {"isolateId": "$isolate"}, {"sockets": is_list}),
        Ask("ext.dart.io.getHttpProfile", {"isolateId": "$isolate"},
            {"requests": is_list, "timestamp": integer}),
        Ask("getVMTimelineMicros", reads={"timestamp": positive}),
    ],
}
SAMPLES: Reads = {
    "samplePeriod": positive, "maxStackDepth": positive, "sampleCount": integer,
    "timeOriginMicros": integer, "timeExtentMicros": integer, "pid": positive,
    "functions[].resolvedUrl": text, "functions[].function.name": filled,
    "functions[].function.type": exactly("@Function", "NativeFunction"),
    "functions[].inclusiveTicks": integer, "functions[].exclusiveTicks": integer,
    "samples[].timestamp": positive, "samples[].tid": integer,
    "samples[].userTag": filled, "samples[].vmTag": filled, "samples[].stack[]": integer,
}
HIDES_TABS = ("package:flutter/src/widgets/binding.dart", "dart:html")


def at(value: Json, path: str) -> Iterator[Json]:
    """All that stands at a path; None for what is not there."""
    name, _, rest = path.partition(".")
    is_each = name.endswith("[]")
    value = value.get(name.removesuffix("[]")) if isinstance(value, dict) else None
    values = value if is_each and isinstance(value, list) else [value]
    for one in values:
        if rest:
            yield from at(one, rest)
        else:
            yield one


class DevTools:
    """The one connection that it has."""

    def __init__(self, uri: str) -> None:
        self.socket = websocket.create_connection(
            uri.replace("http:", "ws:") + "ws", timeout=ANSWER_S, skip_utf8_validation=True)
        self.checker = WireChecker()
        self.ids = itertools.count(0)
        self.events: deque[Json] = deque()
        self.replies: dict[str, Json] = {}
        self.places: dict[str, str] = {}
        self.asked = 0

    def send(self, ask: Ask) -> str:
        request_id = str(next(self.ids))
        params = {name: self.placed(value) for name, value in ask.params.items()}
        request = {"jsonrpc": "2.0", "id": request_id, "method": ask.method, "params": params}
        self.checker.sent(json.dumps(request))
        self.socket.send(json.dumps(request))
        self.asked += 1
        return request_id

    def placed(self, value: Json) -> Json:
        if isinstance(value, list):
            return [self.placed(one) for one in value]
        return self.places.get(value, value) if isinstance(value, str) else value

    def settle(self, ask: Ask, request_id: str) -> Json:
        """The result, after all that DevTools reads of it was there."""
        while request_id not in self.replies:
            self.read(ask.method)
        reply = self.replies.pop(request_id)
        if "error" in reply:
            return self.error(ask, reply["error"])
        if ask.error == "refused":
            raise Tripped(f"{ask.method}: a success, and nothing was done")
        result = reply["result"]
        if not isinstance(result, dict) or not isinstance(result.get("type"), str):
            raise Tripped(f"{ask.method}: a result without a type")
        for path, check in ask.reads.items():
            for value in at(result, path):
                if not check(value):
                    raise Tripped(f"{ask.method}: {path} is {json.dumps(value)[:100]}")
        return result

    def error(self, ask: Ask, error: Json) -> None:
        if not (integer(error.get("code")) and text(error.get("message"))
                and isinstance(error.get("data", {}), dict)):
            raise Tripped(f"{ask.method}: an error that DevTools cannot read: {error}")
        if ask.error == "refused" and error["code"] == 100:
            return
        if ask.error != "caught":
            raise Tripped(f"{ask.method}: error {error['code']} {error.get('data')}")

    def read(self, waiting_for: str) -> None:
        try:
            received = self.socket.recv()
        except websocket.WebSocketTimeoutException:
            raise Tripped(f"{waiting_for}: no answer within {ANSWER_S} s") from None
        self.checker.received(received)
        message = json.loads(received)
        if message.get("method") == "streamNotify":
            self.events.append(message["params"]["event"])
        elif "id" in message:
            if not isinstance(message["id"], str):
                raise Tripped(f"an id came back as {message['id']!r}")
            self.replies[message["id"]] = message

    def ask(self, method: str, params: Optional[Json] = None, reads: Optional[Reads] = None,
            error: str = "fatal") -> Json:
        ask = Ask(method, params or {}, reads or {}, error)
        return self.settle(ask, self.send(ask))

    def all(self, asks: list[Ask]) -> list[Json]:
        """At once, as DevTools does where it does not await."""
        sent = [(ask, self.send(ask)) for ask in asks]
        return [self.settle(ask, request_id) for ask, request_id in sent]

    def one_by_one(self, asks: list[Ask]) -> list[Json]:
        return [self.settle(ask, self.send(ask)) for ask in asks]

    # Contract A

    def connect(self) -> None:
        protocols = self.one_by_one(BEFORE_STREAMS)[0]["protocols"]
        if any(protocol["protocolName"].upper() == "DDS" for protocol in protocols):
            self.all(HISTORIES)
        vm = self.ask("getVM", reads=VM)
        if not vm["isolates"]:
            raise Tripped("getVM: no isolate, so DevTools waits for ever")
        if vm["name"] in ("ChromeDebugProxy", "WebSocketDebugProxy"):
            raise Tripped(f"getVM: the name {vm['name']} stands for a browser")
        listens = [Ask("streamListen", {"streamId": stream}) for stream in STREAMS]
        isolates = [Ask("getIsolate", {"isolateId": one["id"]}, ISOLATE) for one in vm["isolates"]]
        self.pick(self.all(listens + isolates)[len(listens):])
        after = self.one_by_one(AFTER_STREAMS)
        if after[1] and len(after[1]["uris"]) != 1:
            raise Tripped("lookupResolvedPackageUris: another number of uris than asked")
        if after[2]["id"] != self.places["$isolate"]:
            raise Tripped("getIsolate: another isolate than asked")
        for script in after[3]["scripts"]:
            if not filled(script.get("uri")):
                raise Tripped("getScripts: a script without a uri")

    def pick(self, isolates: list[Json]) -> None:
        main = next((i for i in isolates if ":main(" in i["name"]), isolates[0])
        self.places = {"$isolate": main["id"], "$root": main["rootLib"]["uri"],
                       "$group": main["isolateGroupId"]}
        for library in main["libraries"]:
            if library["uri"].startswith(HIDES_TABS) or library["uri"] == "dart:io":
                raise Tripped(f"getIsolate: the library {library['uri']} changes the screens")

    def screen(self, name: str, refused: tuple[str, ...] = ()) -> None:
        """refused: what a service that has no program answers with an error that is shown."""
        for ask in SCREENS[name]:
            if ask.method in refused:
                self.refused(ask)
            else:
                self.settle(ask, self.send(ask))

    def refused(self, ask: Ask) -> None:
        self.settle(replace(ask, error="refused"), self.send(ask))

    # Contract B1

    def open_cpu_profiler(self) -> None:
        """It wants 250 us, whatever was set; then its drop-down shows what the flag list says."""
        flags = {flag["name"]: flag["valueAsString"] for flag in self.ask("getFlagList")["flags"]}
        if flags.get("profiler") != "true" or "profile_period" not in flags:
            raise Tripped("getFlagList: the CPU profiler is off, or has no period")
        for period in ("1000", "50", "250"):
            self.set_period(period)

    def set_period(self, period: str) -> None:
        """A value that comes back changed is set again on every rebuild, for ever."""
        self.events.clear()
        self.ask("setFlag", {"name": "profile_period", "value": period})
        flags = {flag["name"]: flag["valueAsString"] for flag in self.ask("getFlagList")["flags"]}
        updates = [e for e in self.events
                   if e["kind"] == "VMFlagUpdate" and e["flag"] == "profile_period"]
        if flags["profile_period"] != period:
            raise Tripped(f"setFlag: profile_period {period} became {flags['profile_period']}")
        if [update["newValue"] for update in updates] != [period]:
            raise Tripped(f"setFlag: {len(updates)} VMFlagUpdate for profile_period {period}")

    def window(self) -> Json:
        return {"isolateId": self.places["$isolate"], "timeOriginMicros": 0,
                "timeExtentMicros": WHOLE_BUFFER, "_code": False}

    def load_all(self) -> Json:
        """Its button "Load all CPU samples"."""
        samples = self.ask("getCpuSamples", self.window(), SAMPLES)
        self.read_samples(samples)
        self.look_up(samples)
        return samples

    def record(self, enough: int = 100) -> Json:
        """Record, wait, Stop."""
        self.ask("clearCpuSamples", {"isolateId": self.places["$isolate"]})
        window = self.window()
        deadline = time.monotonic() + ANSWER_S
        while True:
            samples = self.ask("getCpuSamples", window, SAMPLES)
            self.read_samples(samples)
            if samples["sampleCount"] >= enough:
                break
            if time.monotonic() > deadline:
                raise Tripped(f"getCpuSamples: {samples['sampleCount']} samples in {ANSWER_S} s")
        self.look_up(samples)
        return samples

    def read_samples(self, reply: Json) -> None:
        samples, functions = reply["samples"], reply["functions"]
        if reply["sampleCount"] != len(samples):
            raise Tripped("getCpuSamples: sampleCount is not the number of samples")
        for sample in samples:
            if not sample["stack"]:
                raise Tripped("getCpuSamples: an empty stack")
            if not all(0 <= index < len(functions) for index in sample["stack"]):
                raise Tripped("getCpuSamples: a stack's index is not in functions")
        if any("_codeStack" in sample for sample in samples[:1]) and "_codes" not in reply:
            raise Tripped("getCpuSamples: _codeStack without _codes")

    def look_up(self, samples: Json) -> None:
        """All URLs at once; and some must be there, for frames without one are hidden."""
        uris = sorted({f["resolvedUrl"] for f in samples["functions"]} - {""})
        if not uris:
            raise Tripped("getCpuSamples: no resolvedUrl at all: all is hidden as native")
        found = self.ask("lookupPackageUris", {"isolateId": self.places["$isolate"], "uris": uris})
        if len(found["uris"]) != len(uris):
            raise Tripped("lookupPackageUris: another number of uris than asked")

    def close(self) -> None:
        self.socket.close()


def main() -> None:
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    devtools = DevTools(sys.argv[1])
    devtools.connect()
    print("connected")
    for screen in sys.argv[2:] or SCREENS:
        try:
            devtools.screen(screen)
            print(f"{screen}: fine")
        except Tripped as tripped:
            print(f"{screen}: {tripped}")
    devtools.open_cpu_profiler()
    samples = devtools.record()
    print(f"cpu-profiler: {samples['sampleCount']} samples; {devtools.asked} requests in all")


if __name__ == "__main__":
    main()
