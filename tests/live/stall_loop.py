"""stall_loop (tests/workloads) under isoscope, and what the service says of its stalls.

    with stall_loop("--stall-limit", "250") as loop:
        step = loop.do("busy:600")                # the program's own times of that dispatch
        stall = loop.stall_of(step)

A step's times are a range as a stall's are: a dispatch lasts at least from begin to end (both read inside of it)
and at most from asked to left (both read outside). On a machine that stands still for a while between two of
these the range is wide, and what is said of it stays true.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from contextlib import contextmanager
from typing import Any, Iterator, NamedTuple, Optional

from harness import DEADLINE_S, Client, Service, service_of, until, workload

Stall = dict[str, Any]
TRIES = 5


class Part(NamedTuple):
    name: str
    begin_ns: int
    end_ns: int

    @property
    def ns(self) -> int:
        return self.end_ns - self.begin_ns


class Step(NamedTuple):
    text: str
    pid: int
    tid: int
    loop: int
    asked_ns: int
    begin_ns: int
    end_ns: int
    left_ns: int
    parts: list[Part]

    @property
    def min_us(self) -> float:
        return (self.end_ns - self.begin_ns) / 1e3

    @property
    def max_us(self) -> float:
        return (self.left_ns - self.asked_ns) / 1e3

    def clear_longest(self, by_ns: int) -> Optional[str]:
        """The part that took longest, if by so much more than each other; else it says nothing."""
        first, second = sorted(self.parts, key=lambda part: -part.ns)[:2]
        return first.name if first.ns > second.ns + by_ns else None


def step_of(told: dict[str, Any]) -> Step:
    return Step(told["step"], told["pid"], told["tid"], told["loop"], told["asked"], told["begin"], told["end"],
                told["left"], [Part(*part) for part in told["parts"]])


def steps_of(text: str) -> list[Step]:
    """Of all that the program has printed."""
    return [step_of(told) for told in map(json.loads, text.splitlines()) if "step" in told]


def overlap(stall: Stall, step: Step) -> bool:
    """Is it of that dispatch?"""
    start, last = stall["startMicros"], stall["durationMicros"]
    # Of the service's ranges what is certain: it was busy from the start's end on, for the shortest duration.
    begin_us, end_us = start[1], max(start[1], start[0] + last[0])
    return (stall["pid"] == step.pid and stall["tid"] == step.tid and
            begin_us <= step.left_ns / 1e3 and end_us >= step.asked_ns / 1e3 - 1)


def wrong_times(stall: Stall, step: Step) -> str:
    """What of the stall's ranges cannot be true; ''. Rounded microseconds."""
    wrong = []
    shortest, longest = stall["durationMicros"]
    first, last = stall["startMicros"]
    if shortest > step.max_us + 2:
        wrong.append(f"at least {shortest} us, but it took {step.max_us:.0f} at most")
    if longest < step.min_us - 2:
        wrong.append(f"at most {longest} us, but it took {step.min_us:.0f} at least")
    if first > step.begin_ns / 1e3 + 1:
        wrong.append(f"from {first} at the earliest, but it began at {step.begin_ns / 1e3:.0f} at the latest")
    if last < step.asked_ns / 1e3 - 1:
        wrong.append(f"from {last} at the latest, but it began at {step.asked_ns / 1e3:.0f} at the earliest")
    return "; ".join(wrong)


def was_disturbed(stall: Stall) -> bool:
    """The machine had a good part in it, and that may be said as well."""
    longest = stall["durationMicros"][1]
    return stall["hostLateMicros"] > 0.25 * longest or stall["runnableMicros"] > 0.25 * longest


def all_stalls(client: Client, **params: Any) -> list[Stall]:
    return list(client.call("_getStalls", **params)["stalls"])


def told_stalls(client: Client, tid: int) -> list[Stall]:
    """Those of that thread, which came first first."""
    return sorted((s for s in all_stalls(client) if s["tid"] == tid), key=lambda stall: stall["number"])


def loops(client: Client) -> list[dict[str, Any]]:
    return list(client.call("_getLoopStats")["loops"])


def loop_of(client: Client, tid: int) -> Optional[dict[str, Any]]:
    found = [loop for loop in loops(client) if loop["tid"] == tid and not loop["ended"]]
    return found[0] if found else None


class StallLoop:
    """One that takes its steps from here."""

    def __init__(self, service: Service, client: Client) -> None:
        self.service = service
        self.client = client
        self.pid = service.program()
        until(lambda: loop_of(client, self.pid), "the loop is known")

    def send(self, *words: str) -> None:
        pipe = self.service.process.stdin
        pipe.write("".join(f"{word}\n" for word in words).encode())
        pipe.flush()

    def told(self) -> dict[str, Any]:
        """The program's next line."""
        line = self.service.process.stdout.readline()
        assert line, "the program has ended"
        return json.loads(line)

    def begun(self, word: str) -> None:
        """Sends it, and waits until it is about to begin."""
        self.send(word)
        while self.told().get("next") != word:
            pass

    def done(self) -> Step:
        """The step that goes on, when it has ended."""
        while "step" not in (told := self.told()):
            pass
        return step_of(told)

    def do(self, word: str) -> Step:
        self.send(word)
        return self.done()

    def stalls(self) -> list[Stall]:
        return told_stalls(self.client, self.pid)

    def find(self, step: Step) -> Optional[Stall]:
        found = [stall for stall in self.stalls() if overlap(stall, step)]
        assert len(found) < 2, found
        return found[0] if found else None

    def stall_of(self, step: Step) -> Stall:
        """That of a step that ended, when its own end is known."""
        return until(lambda: (found := self.find(step)) and not found["ongoing"] and found,
                     f"the stall of {step.text}, {step.min_us / 1e3:.0f} ms")

    def stalled(self, word: str) -> tuple[Step, Stall]:
        """Does it until its stall is known: who looks may stand still for all of it, but not each time."""
        for _ in range(TRIES):
            step = self.do(word)
            try:
                return step, until(lambda: (s := self.find(step)) and not s["ongoing"] and s, word, DEADLINE_S / 6)
            except AssertionError:
                continue
        raise AssertionError(f"{word}: no stall, {TRIES} times")

    def ongoing(self) -> Stall:
        return until(lambda: next((s for s in self.stalls() if s["ongoing"]), None), "a stall that goes on")

    def settle(self, limit_ms: int) -> list[Stall]:
        """All stalls so far, when each dispatch so far was judged: a long one behind them has been."""
        sentinel, _stall = self.stalled(f"busy:{3 * limit_ms}")
        return [stall for stall in self.stalls() if not overlap(stall, sentinel)]


@contextmanager
def stall_loop(*options: str, words: tuple[str, ...] = ("-",), **popen: Any) -> Iterator[StallLoop]:
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    command = [workload("stall_loop"), *words]
    with service_of(command, "--quiet", *options, **{**pipes, **popen}) as service:
        with Client(service.uri) as client:
            yield StallLoop(service, client)


def switches(pid: int, name: str = "") -> int:
    """How often threads of that process gave their processor away; with a name: those of that name."""
    count = 0
    for tid in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{tid}/status") as file:
            status = dict(line.split(":\t", 1) for line in file)
        if name in ("", status["Name"].strip()):
            count += int(status["voluntary_ctxt_switches"])
    return count


def ended_stalls(client: Client, steps: list[Step]) -> list[Stall]:
    """Theirs, one each, when all have ended. A busy machine has stalls of its own besides."""
    def found() -> Optional[list[Stall]]:
        every = [stall for stall in all_stalls(client) if not stall["ongoing"]]
        theirs = [[stall for stall in every if overlap(stall, step)] for step in steps]
        return [one[0] for one in theirs] if all(len(one) == 1 for one in theirs) else None

    return until(found, "a stall of each step")


def unchanged_for(figure: Any, seconds: float) -> bool:
    """A condition of until(): false until the figure has stayed the same for so long."""
    before, since = figure(), time.monotonic()
    while time.monotonic() - since < seconds:
        time.sleep(0.05)
        if figure() != before:
            return False
    return True
