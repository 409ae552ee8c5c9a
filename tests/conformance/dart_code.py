#!/usr/bin/env python3
"""Does on the wire what Dart-Code's debug adapter does when it attaches, looks around and goes.

    ISOSCOPE_BUILD=build tests/conformance/dart_code.py URI

    attach -> threads -> pause (refused, survived) -> stack, scopes, evaluate -> resume -> disconnect

It awaits the requests of a thread's set-up together; one error there, and the editor never hears
that the adapter is ready.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).resolve().parent)]

from wire_client import Failed, Json, WireClient  # noqa: E402

STREAMS = ("Isolate", "Extension", "Debug", "Service", "ToolEvent", "Logging", "Stdout", "Stderr")
FEATURE_DISABLED, EXPRESSION_ERROR = 100, 113
PAUSED = ("PauseStart", "PauseExit", "PauseBreakpoint", "PauseInterrupted", "PauseException",
          "PausePostRequest", "None")


class DartCode:
    def __init__(self, uri: str) -> None:
        self.client = WireClient(uri)
        self.threads: dict[str, Json] = {}

    def attach(self) -> None:
        """Until it tells the editor that it is ready."""
        ask = self.client.ask
        version = ask("getVersion")
        if (version["major"], version["minor"]) < (3, 0):
            raise Failed(f"getVersion: {version}")
        ask("getSupportedProtocols")
        for stream in STREAMS:
            ask("streamListen", streamId=stream)
        vm = ask("getVM")
        if not vm["isolates"] or not vm["pid"]:
            raise Failed("getVM: nothing to attach to")
        for isolate in vm["isolates"]:
            self.set_up(isolate)

    def set_up(self, reference: Json) -> None:
        """A thread of the editor's: nothing of this may fail."""
        identity = {"isolateId": reference["id"]}
        ask = self.client.ask
        isolate = ask("getIsolate", **identity)
        if isolate["type"] == "Sentinel":
            return
        ask("setIsolatePauseMode", **identity, exceptionPauseMode="Unhandled")
        ask("setExceptionPauseMode", **identity, mode="Unhandled")
        libraries = [library for library in isolate["libraries"] if "uri" in library]
        uris = [library["uri"] for library in libraries]
        found = ask("lookupResolvedPackageUris", **identity, uris=uris, local=True)
        if found["type"] == "Sentinel":  # it has ended meanwhile
            return
        if len(found["uris"]) != len(uris):
            raise Failed("lookupResolvedPackageUris: another number of uris than asked")
        for library in libraries:
            ask("setLibraryDebuggable", **identity, libraryId=library["id"], isDebuggable=True)
        if isolate["pauseEvent"]["kind"] in PAUSED:
            ask("resume", **identity)
        self.threads[isolate["id"]] = isolate

    def pause(self, isolate_id: str) -> None:
        """The editor shows the refusal, and goes on."""
        self.client.refused("pause", FEATURE_DISABLED, isolateId=isolate_id)

    def stack(self, isolate_id: str) -> list[Json]:
        stack = self.client.ask("getStack", isolateId=isolate_id, limit=20)
        frames = stack.get("frames", [])  # none: the isolate is gone
        for frame in frames:
            self.client.ask("getObject", isolateId=isolate_id, objectId=frame["function"]["id"])
            self.source(isolate_id, frame)
        return frames

    def source(self, isolate_id: str, frame: Json) -> None:
        script = frame.get("location", {}).get("script")
        if script:
            found = self.client.ask("getObject", isolateId=isolate_id, objectId=script["id"])
            if found.get("uri", script["uri"]) != script["uri"]:
                raise Failed(f"getObject: {script['id']} is another script")

    def evaluate(self, isolate_id: str) -> None:
        root = self.threads[isolate_id]["rootLib"]["id"]
        self.client.refused("evaluate", EXPRESSION_ERROR, isolateId=isolate_id, targetId=root,
                            expression="1")

    def resume(self, isolate_id: str) -> None:
        self.client.ask("resume", isolateId=isolate_id)

    def log_messages(self) -> list[str]:
        """What the debug console shows; a text that was cut is asked for whole."""
        messages = []
        for params in self.client.events:
            event = params["event"]
            if params["streamId"] == "Logging":
                text = event["logRecord"]["message"]
                whole = self.client.ask("getObject", isolateId=event["isolate"]["id"],
                                        objectId=text["id"])
                messages.append(whole.get("valueAsString", ""))
        return messages

    def disconnect(self) -> None:
        """Detached, not ended: no pause mode and no listener of its own is left behind."""
        for isolate_id in self.threads:
            self.client.ask("setIsolatePauseMode", isolateId=isolate_id, exceptionPauseMode="None")
            self.resume(isolate_id)
        for stream in STREAMS:
            self.client.ask("streamCancel", streamId=stream)
        self.client.close()


def drive(uri: str) -> dict[str, Any]:
    adapter = DartCode(uri)
    adapter.attach()
    frames = 0
    for isolate_id in adapter.threads:
        adapter.pause(isolate_id)
        frames += len(adapter.stack(isolate_id))
        adapter.evaluate(isolate_id)
        adapter.resume(isolate_id)
    messages = adapter.log_messages()
    adapter.disconnect()
    return {"threads": len(adapter.threads), "frames": frames, "messages": len(messages)}


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    print(drive(sys.argv[1]))
