"""Who is told of a stall, and how: events, records of a log, metrics, the timeline, exit status, a command."""

from __future__ import annotations

import re
import subprocess
import urllib.request
from typing import Any

import pytest
from harness import DEADLINE_S, ISOSCOPE, Client, until, workload
from stall_loop import TRIES, StallLoop, loop_of, stall_loop

LOOP = workload("stall_loop")


@pytest.fixture(scope="module")
def loop():
    with stall_loop() as loop:
        yield loop


def kinds(client: Client, number: int, last: str) -> list[dict[str, Any]]:
    """Events of that stall, until the last kind."""
    found: list[dict[str, Any]] = []
    while not found or found[-1]["extensionKind"] != last:
        event = client.next_event("Extension", timeout_s=DEADLINE_S).event
        if event["extensionKind"].startswith("Isoscope.Stall.") and event["extensionData"]["number"] == number:
            found.append(dict(event))
    return found


def test_events_tell_of_a_stall_from_its_begin_to_its_end(loop, tmp_path):
    with Client(loop.service.uri) as listener:
        listener.listen("Extension", "Logging", "Profiler")
        loop.begun(f"hold:{tmp_path / 'go on'}")
        number = loop.ongoing()["number"]
        until(lambda: loop.ongoing()["updates"] >= 1, "an update")
        (tmp_path / "go on").touch()
        stall = loop.stall_of(loop.done())
        events = kinds(listener, number, "Isoscope.Stall.End")
        told = [event["extensionKind"].rpartition(".")[2] for event in events]
        assert told[0] == "Begin" and told[-1] == "End" and set(told[1:-1]) == {"Update"}
        assert events[-1]["extensionData"]["durationMicros"] == stall["durationMicros"]
        assert events[-1]["extensionData"]["culprit"]["function"] == stall["culprit"]["function"]
        assert "stacks" not in events[-1]["extensionData"]

        record = until(lambda: (r := listener.next_event("Logging", timeout_s=DEADLINE_S).event["logRecord"])
                       and r["loggerName"]["valueAsString"] == "isoscope.stall" and r, "a record of it")
        assert record["level"] == 1000 and record["message"]["valueAsString"]
        until(lambda: listener.next_event("Profiler", timeout_s=DEADLINE_S).event["kind"] == "_StallsAvailable",
              "the page is told")


def scraped(loop: StallLoop) -> str:
    with urllib.request.urlopen(f"{loop.service.uri}metrics", timeout=DEADLINE_S) as reply:
        assert reply.headers["Content-Type"].startswith("text/plain; version=0.0.4")
        return reply.read().decode()


def test_metrics_count_stalls_by_loop_and_cause(loop):
    def counted() -> dict[str, int]:
        lines = re.findall(r"^isoscope_stalls_total\{(.*)\} (\d+)$", scraped(loop), re.MULTILINE)
        return {cause: int(count) for labels, count in lines
                for cause in re.findall(r'cause="([^"]*)"', labels) if int(count)}

    assert loop.stalled("busy:600")
    until(lambda: counted() == loop_of(loop.client, loop.pid)["causes"], "the same counts")


def test_the_timeline_has_told_stalls_as_slices_of_their_threads(loop):
    _step, stall = loop.stalled("render:600")
    assert stall["told"]

    def slices() -> list[dict[str, Any]]:
        events = loop.client.call("getVMTimeline")["traceEvents"]
        return [e for e in events if e.get("name") == "Stall" and e.get("tid") == stall["tid"]
                and e.get("args", {}).get("culprit") == "render"]

    assert until(slices, "its slice")[0]["args"]["cause"] == stall["cause"]


def ran(*options: str, words: tuple[str, ...]) -> subprocess.CompletedProcess:
    return subprocess.run([ISOSCOPE, "run", *options, "--", LOOP, *words], capture_output=True, text=True,
                          timeout=5 * DEADLINE_S)


def test_a_run_fails_by_a_stall_when_asked_to():
    for _ in range(TRIES):
        done = ran("--fail-on-stall", "300ms", words=("render:900",))
        if done.returncode == 3:
            break
        assert done.returncode == 0 and "not counted by --fail-on-stall: 1 stall in which the whole machine was late" in done.stderr, done
    else:
        pytest.skip("the machine was too busy, each time")
    assert "render" in done.stderr, done.stderr
    assert ran("--fail-on-stall", "30s", words=("render:900",)).returncode == 0


def test_a_command_is_run_when_a_stall_is_told(tmp_path):
    file = tmp_path / "told"
    command = f'echo "$ISOSCOPE_STALL_CULPRIT $ISOSCOPE_STALL_CAUSE end=$ISOSCOPE_STALL_END" >>{file}'
    ran("--quiet", "--on-stall", command, words=("render:1500",))
    lines = file.read_text().splitlines()
    assert any(line.startswith("render ") and line.endswith(" end=1") for line in lines), lines
    assert any(line.endswith(" end=") for line in lines), lines
