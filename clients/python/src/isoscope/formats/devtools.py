"""Dart DevTools' snapshot: what its CPU profiler saves, and opens without a connection.

DevTools counts samples, so each is there as often as the periods of CPU time it stands for. Threads
stay apart by tid. Lost: their names, lines, which frames were inlined, cut stacks. DevTools shows
libraries as packages.
"""

from __future__ import annotations

from typing import Any, BinaryIO

from ..profile import Profile
from ..stacks import FunctionTree
from .common import library_path, pid_of, told, write_json

_SCREEN = "cpu-profiler"
_VERSION = "2.61.0"  # whose form this is


def write(profile: Profile, out: BinaryIO) -> None:
    tree = FunctionTree(profile)
    first = profile.first_us
    events = [_event(profile, tree, place, time) for time, place in told(profile)]
    used = tree.used({tree.of[node] for node in profile.nodes})
    content = {
        "type": "_CpuProfileTimeline",
        "samplePeriod": profile.period_us,
        "sampleCount": len(events),
        "stackDepth": max((len(tree.stack(node)) for node in used), default=0),
        "timeOriginMicros": first,
        "timeExtentMicros": profile.last_us - first,
        "stackFrames": {_id(node): _frame(tree, node) for node in used},
        "traceEvents": events,
    }
    write_json(snapshot_of(_SCREEN, content), out)


def snapshot_of(screen: str, content: dict[str, Any]) -> dict[str, Any]:
    """A file that DevTools opens on that screen."""
    app = {"isFlutterApp": False, "isProfileBuild": True, "isDartWebApp": False}
    return {
        "devToolsSnapshot": True,
        "devToolsVersion": _VERSION,
        "connectedApp": {**app, "isRunningOnDartVM": True, "operatingSystem": "linux"},
        "activeScreenId": screen,
        screen: content,
    }


def _id(node: int) -> str:
    """What stands before the dash is the isolate's, and has none."""
    return f"isolates/1-{node}"


def _frame(tree: FunctionTree, node: int) -> dict[str, Any]:
    function = tree.functions[node - 1]
    frame = {
        "name": function.name,
        "category": "Dart",  # what it knows: others are hidden as native code
        "resolvedUrl": function.file or library_path(function),
        "packageUri": library_path(function),
        "sourceLine": function.line or None,
    }
    caller = tree.callers[node]
    return {**frame, "parent": _id(caller)} if caller else frame


def _event(profile: Profile, tree: FunctionTree, place: int, time_us: int) -> dict[str, Any]:
    thread = profile.threads[profile.sample_threads[place]]
    tags = {
        "userTag": profile.tags[profile.user_tags[place]] or "Default",
        "vmTag": profile.vm_tags[profile.states[place]] or "Native",
    }
    return {
        "ph": "P",
        "name": "",
        "pid": pid_of(thread.process),
        "tid": thread.tid,
        "ts": time_us,
        "cat": "Dart",
        "sf": _id(tree.of[profile.nodes[place]]),
        "args": tags,
    }
