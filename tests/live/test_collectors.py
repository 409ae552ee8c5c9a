"""Programs that carry other tools' calls: what they tell is in the timeline."""

from __future__ import annotations

import os
import subprocess
from collections import defaultdict

from harness import Client, service_of, workload

PROGRAM = workload("tells_tools")


def told(*, env=None):
    """What the program printed, and its events by stream: (phase, name, arguments)."""
    environment = {**os.environ, **(env or {})}
    with service_of([PROGRAM], "--quiet", stdout=subprocess.PIPE, env=environment) as service:
        service.wait_for_end()
        with Client(service.uri) as client:
            events = client.call("getVMTimeline")["traceEvents"]
        service.process.terminate()
        printed = service.process.stdout.read().decode().split()
    streams = defaultdict(list)
    for event in events:
        own = {name: value for name, value in event["args"].items() if not name.startswith("isolate")}
        streams[event.get("cat")].append((event["ph"], event["name"], own))
    return printed, streams


def test_tasks_ranges_marks_and_counters_are_events_of_their_domains():
    printed, streams = told()
    assert printed == ["itt", "jit", "nvtx"]
    itt = streams["tools.itt"]
    assert [(phase, name) for phase, name, _ in itt if phase in "BE"] == [
        ("B", "outer"), ("B", "inner"), ("E", "inner"), ("E", "outer")]
    assert [name for phase, name, _ in itt if phase in "be"] == ["apart", "apart"]
    assert [own for phase, _, own in itt if phase == "C"] == [{"value": 5}, {"value": 7}]
    nvtx = streams["NVTX"]
    assert [(phase, name) for phase, name, _ in nvtx] == [
        ("B", "pushed"), ("E", "pushed"), ("i", "marked"), ("b", "started"), ("e", "started")]
    registered = [event for event in streams["tools.nvtx"] if event[0] == "B"]
    assert registered == [("B", "registered", {"category": "fast", "payload": 42})]


def test_a_collector_that_the_user_has_named_stays():
    printed, streams = told(env={"NVTX_INJECTION64_PATH": "/nowhere.so"})
    assert printed == ["itt", "jit"]
    assert "NVTX" not in streams
