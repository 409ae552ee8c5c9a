"""Every method that reads, asked of a session: with the ids that it has, as raw text in and out."""

from __future__ import annotations

import json

from conftest import Socket
from harness import ROOT

METHODS = {method["name"]: method for method in json.loads(
    (ROOT / "schemas" / "generated" / "openrpc.json").read_text())["methods"]}

# What sets something is not repeatable, and what stops the service's client is no reading.
CHANGES = {
    "setFlag", "_enableProfiler", "setName", "setVMName", "setClientName", "setVMTimelineFlags",
    "_setVMTimelineFlags", "setLogHistorySize", "setExceptionPauseMode", "setIsolatePauseMode",
    "setLibraryDebuggable", "setBreakpointState", "setTraceClassAllocation",
    "_setStreamIncludePrivateMembers", "createIdZone", "deleteIdZone", "invalidateIdZone",
    "requirePermissionToResume", "requireUserPermissionToResume", "registerService",
    "_registerService", "postEvent", "_yieldControlToDDS", "streamListen", "streamCancel",
    "streamCpuSamplesWithUserTag", "_setProcessSampling", "_setProgramSampling", "_attach", "_detach",
}


class Asking:
    def __init__(self, uri: str) -> None:
        self.socket = Socket(uri)
        self.sent = 0
        self.values = self._find_values()

    def raw(self, method: str, params: dict) -> bytes:
        self.sent += 1
        request = {"jsonrpc": "2.0", "id": str(self.sent), "method": method, "params": params}
        self.socket.socket.send(json.dumps(request))
        return self.socket.socket.recv()

    def result(self, method: str, **params):
        reply = json.loads(self.raw(method, params))
        assert "error" not in reply, reply
        return reply["result"]

    def _find_values(self) -> dict:
        """A value for each parameter that a method wants."""
        vm = self.result("getVM")
        isolate = vm["isolates"][0]["id"]
        samples = self.result("_getCpuSamples", isolateId=isolate)
        function = max(samples["functions"], key=lambda one: one["exclusiveTicks"])["id"]
        script = self.result("getScripts", isolateId=isolate)["scripts"][0]
        tags = self.result("getAvailableCachedCpuSamples")["cacheNames"]
        return {"isolateId": isolate, "isolateGroupId": vm["isolateGroups"][0]["id"],
                "objectId": script["id"], "functionId": function, "scriptId": script["id"],
                "userTag": tags[0], "uris": [script["uri"]], "reports": ["_Profile", "Coverage"],
                "stream": "Logging", "streamId": "Logging", "targetId": function,
                "threads": [one["id"] for one in vm["isolates"] if "_tid" in one]}

    def variants(self) -> list[tuple[str, dict]]:
        """The same methods with more than they need: of all processes, in a window, of code, by tags; of nobody."""
        one = {"isolateId": self.values["isolateId"]}
        samples = self.result("getCpuSamples", **one)
        begin_us, extent_us = samples["timeOriginMicros"], samples["timeExtentMicros"]
        window = {"timeOriginMicros": begin_us, "timeExtentMicros": extent_us // 2}
        tags = [("_getCpuProfile", one | {"tags": tags}) for tags in ("None", "UserVM", "UserOnly", "VMUser", "VMOnly")]
        return [
            ("_getCpuSamples", {}),
            ("_getCpuSamples", one | {"timestamp": begin_us, "count": 1}),
            ("getCpuSamples", one | {"_code": True}),
            *[(name, one | window) for name in ("getCpuSamples", "getPerfettoCpuSamples", "_getCpuProfileTimeline")],
            *tags,
            *[(name, {"isolateId": "isolates/9"}) for name in ("getCpuSamples", "getPerfettoCpuSamples", "_getTagProfile")],
        ]

    def all(self, but: frozenset[str] = frozenset()) -> dict[str, bytes]:
        replies = {}
        for name in sorted(set(METHODS) - CHANGES - but):
            wanted = [one["name"] for one in METHODS[name]["params"] if one.get("required")]
            params = {one: self.values.get(one, "1") for one in wanted}
            replies[name] = self.raw(name, params)
        for number, (name, params) in enumerate(self.variants()):
            replies[f"{name} {number}"] = self.raw(name, params)
        for thread in self.values["threads"]:
            replies[f"thread {thread}"] = self.raw("getCpuSamples", {"isolateId": thread})
        table = self.raw("_getCpuSamples", {"form": "table", "count": "100"})
        replies["table"] = table
        replies["more"] = self.raw("_getCpuSamples",
                                   {"form": "table", "cursor": json.loads(table)["result"]["next"]})
        for stream in ("Profiler", "Isolate", "VM", "Logging", "Stdout"):
            replies[f"listen {stream}"] = self.raw("streamListen", {"streamId": stream})
        return replies
