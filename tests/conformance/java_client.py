#!/usr/bin/env python3
"""Reads replies as the Java client of flutter-intellij does, and follows every id it is given.

    ISOSCOPE_BUILD=build tests/conformance/java_client.py URI

Its getters take what the protocol says is always there without a look: a member that is missing, or
of another kind, is an exception in the IDE. REQUIRED is the protocol's own list, by type; @T and T
of one name are read by the same getters, where T has those of its table besides.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Iterator

sys.path[:0] = [str(Path(__file__).resolve().parent)]

from wire_client import Failed, Json, WireClient, objects_in  # noqa: E402

KINDS = {"s": str, "i": int, "b": bool, "l": list, "o": dict}
# name:kind of what each type always has.
REQUIRED = {
    "VM": "name:s architectureBits:i hostCPU:s operatingSystem:s targetCPU:s version:s pid:i "
          "startTime:i isolates:l isolateGroups:l systemIsolates:l systemIsolateGroups:l",
    "@VM": "name:s",
    "@Isolate": "id:s number:s name:s isSystemIsolate:b isolateGroupId:s",
    "Isolate": "id:s number:s name:s isSystemIsolate:b isolateGroupId:s isolateFlags:l "
               "startTime:i runnable:b livePorts:i pauseOnExit:b pauseEvent:o libraries:l "
               "breakpoints:l exceptionPauseMode:s",
    "@IsolateGroup": "id:s number:s name:s isSystemIsolateGroup:b",
    "IsolateGroup": "id:s number:s name:s isSystemIsolateGroup:b isolates:l",
    "@Library": "id:s name:s uri:s",
    "Library": "id:s name:s uri:s debuggable:b dependencies:l scripts:l variables:l functions:l "
               "classes:l",
    "@Script": "id:s uri:s",
    "Script": "id:s uri:s library:o",
    "ScriptList": "scripts:l",
    "@Class": "id:s name:s library:o",
    "Class": "id:s name:s library:o abstract:b const:b isSealed:b isMixinClass:b isBaseClass:b "
             "isInterfaceClass:b isFinal:b traceAllocations:b interfaces:l fields:l functions:l "
             "subclasses:l",
    "ClassList": "classes:l",
    "@Function": "id:s name:s owner:o static:b const:b implicit:b abstract:b isGetter:b "
                 "isSetter:b",
    "Function": "id:s name:s owner:o static:b const:b implicit:b abstract:b isGetter:b isSetter:b "
                "signature:o",
    "NativeFunction": "name:s",
    "@Code": "id:s name:s kind:s",
    "Code": "id:s name:s kind:s",
    "@Instance": "id:s kind:s identityHashCode:i class:o",
    "Instance": "id:s kind:s identityHashCode:i class:o",
    "SourceLocation": "script:o tokenPos:i",
    "Stack": "frames:l messages:l truncated:b",
    "Frame": "index:i",
    "Event": "kind:s timestamp:i",
    "LogRecord": "message:o time:i level:i sequenceNumber:i loggerName:o zone:o error:o "
                 "stackTrace:o",
    "CpuSamples": "samplePeriod:i maxStackDepth:i sampleCount:i timeOriginMicros:i "
                  "timeExtentMicros:i pid:i functions:l samples:l",
    "ProfileFunction": "kind:s inclusiveTicks:i exclusiveTicks:i resolvedUrl:s function:o",
    "CpuSample": "tid:i timestamp:i stack:l",
    "MemoryUsage": "externalUsage:i heapCapacity:i heapUsage:i",
    "Flag": "name:s comment:s modified:b",
    "FlagList": "flags:l",
    "Timeline": "traceEvents:l timeOriginMicros:i timeExtentMicros:i",
    "TimelineFlags": "recorderName:s availableStreams:l recordedStreams:l",
    "Timestamp": "timestamp:i",
    "Version": "major:i minor:i",
    "ProtocolList": "protocols:l",
    "Protocol": "protocolName:s major:i minor:i",
    "SourceReport": "ranges:l scripts:l",
    "SourceReportRange": "scriptIndex:i startPos:i endPos:i compiled:b",
    "PortList": "ports:l",
    "ProcessMemoryUsage": "root:o",
    "ProcessMemoryItem": "name:s description:s size:i children:l",
    "AllocationProfile": "members:l memoryUsage:o",
    "UriList": "uris:l",
    "Sentinel": "kind:s valueAsString:s",
    "Success": "",
    "ExtensionData": "",
}
WHOLE = {"timeOriginMicros": 0, "timeExtentMicros": 1 << 52}
OF_AN_ISOLATE = {
    "getIsolate": {}, "getScripts": {}, "getClassList": {}, "getStack": {}, "getMemoryUsage": {},
    "getIsolatePauseEvent": {}, "getAllocationProfile": {}, "getPorts": {}, "getCpuSamples": WHOLE,
    "getSourceReport": {"reports": ["Coverage"]},
}
OF_THE_VM = ("getVM", "getVersion", "getFlagList", "getSupportedProtocols", "getVMTimeline",
             "getVMTimelineFlags", "getVMTimelineMicros", "getProcessMemoryUsage")


def type_of(value: Json) -> str:
    """Of the profile's lists, whose items the protocol gives no type."""
    if "type" in value:
        return value["type"]
    if "inclusiveTicks" in value:
        return "ProfileFunction"
    return "CpuSample" if "stack" in value and "tid" in value else ""


def is_of(kind: str, value: Json) -> bool:
    return isinstance(value, KINDS[kind]) and (kind != "i" or not isinstance(value, bool))


def missing_in(reply: Json) -> Iterator[str]:
    for value in objects_in(reply, private=False):
        name = type_of(value)
        if name and name not in REQUIRED:
            yield f"{name}: not a type that it knows"
        for entry in REQUIRED.get(name, "").split():
            member, _, kind = entry.partition(":")
            if not is_of(kind, value.get(member)):
                yield f"{name}.{member}: {value.get(member)!r}"


class JavaClient:
    def __init__(self, uri: str) -> None:
        self.client = WireClient(uri)
        self.wrong: dict[str, str] = {}
        self.known: set[tuple[str, str]] = set()
        self.names: dict[tuple[str, str], str] = {}  # as they were told first
        self.todo: list[tuple[str, str]] = []  # an isolate, an id that it gave

    def read(self, reply: Json, isolate_id: str, where: str) -> None:
        for wrong in missing_in(reply):
            self.wrong.setdefault(wrong, where)
        for value in objects_in(reply):
            target = (isolate_id, value.get("id"))
            if isinstance(target[1], str) and target not in self.known:
                self.known.add(target)
                self.names[target] = str(value.get("name"))
                self.todo.append(target)

    def ask(self, method: str, isolate_id: str, **params: Json) -> Json:
        reply = self.client.ask(method, **params)
        self.read(reply, isolate_id, f"{method} {params}")
        return reply

    def follow(self, isolate_id: str, object_id: str) -> None:
        """Every id has somebody who answers to it."""
        if object_id.startswith("isolates/"):
            self.ask("getIsolate", object_id, isolateId=object_id)
        elif object_id.startswith("isolateGroups/"):
            self.ask("getIsolateGroup", isolate_id, isolateGroupId=object_id)
        else:
            found = self.ask("getObject", isolate_id, isolateId=isolate_id, objectId=object_id)
            if found["type"] != "Sentinel" and found["id"] != object_id:
                self.follow_merged(isolate_id, object_id, found)

    def follow_merged(self, isolate_id: str, object_id: str, found: Json) -> None:
        """Two records of a function may turn out to be one, when more of its module's names have been read: of the same
        module, by the same name (a symbol's may have .lto_priv.0 and the like behind it), and the id that it goes by now
        answers for itself."""
        kind, module = object_id.partition("/")[0], object_id.rpartition("/")[0]
        now = self.client.ask("getObject", isolateId=isolate_id, objectId=found["id"])
        told = (self.names[isolate_id, object_id], found["name"], now["name"])
        names = {name.partition(".")[0] for name in told}
        if kind not in ("functions", "code") or found["id"].rpartition("/")[0] != module or len(names) != 1:
            raise Failed(f"getObject: {object_id} became {found['id']}")
        if now["id"] != found["id"]:
            raise Failed(f"getObject: {object_id} became {found['id']}, which became {now['id']}")

    def walk(self) -> None:
        for stream in ("Logging", "Isolate", "Stdout"):
            self.client.ask("streamListen", streamId=stream)
        vm = self.ask("getVM", "")
        isolates = [isolate["id"] for isolate in vm["isolates"]]
        for method in OF_THE_VM:
            self.ask(method, isolates[0])
        for isolate_id in isolates:
            for method, params in OF_AN_ISOLATE.items():
                self.ask(method, isolate_id, isolateId=isolate_id, **params)
        for params in self.client.events:
            self.read(params["event"], isolates[0], f"an event of {params['streamId']}")
        while self.todo:
            self.follow(*self.todo.pop())

    def close(self) -> None:
        self.client.close()


def walk(uri: str) -> JavaClient:
    client = JavaClient(uri)
    client.walk()
    client.close()
    return client


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    walked = walk(sys.argv[1])
    for wrong, where in walked.wrong.items():
        print(f"{wrong}, in {where}")
    print(f"{len(walked.known)} ids followed")
