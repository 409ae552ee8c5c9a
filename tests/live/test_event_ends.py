"""Slices in whose middle a program forks or crashes."""

from __future__ import annotations

from harness import Client, service_of, workload


def test_a_slice_is_marked_in_the_child_that_ends_it_and_cut_off_at_a_crash():
    with service_of([workload("forks_in_a_slice")], "--quiet") as service:
        service.wait_for_end()
        with Client(service.uri) as client:
            events = client.call("getVMTimeline")["traceEvents"]
            history = client.call("_getTimeline", count=1)["history"]
    told = [event for event in events if event.get("cat") == "API"]
    parent = next(event["pid"] for event in told if event["name"] == "around the fork")
    assert [(event["ph"], event["name"]) for event in told if event["pid"] == parent] == [
        ("B", "around the fork"), ("E", "around the fork"), ("B", "open at the crash"), ("E", "open at the crash")]
    crashed = next(event for event in told if event["name"] == "open at the crash")
    assert crashed["args"]["_mark"] == "CutOff"
    child = [event for event in told if event["pid"] != parent]
    assert child[0]["args"]["_mark"] == "NoBegin"
    assert [(event["ph"], event["name"]) for event in child[1:]] == [("B", "in the child"), ("E", "in the child")]
    assert (history["lost"], history["unmatched"], history["cutOff"]) == (0, 1, 1)
