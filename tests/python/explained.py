"""Profiles for readings, a thread's way at a time.

    Run().add("main>work:12>pthread_mutex_lock", "Lock", 400).facts()

Stacks are told outermost first, with lines; what known_calls knows is libc's, and "|" begins what is inlined into what
stands before. One sample each millisecond of its thread, but for a microsecond: each is a look of its own.
"""

from __future__ import annotations

from typing import Any, Optional

from isoscope import Function, Library, Process, Profile
from isoscope.explain.facts import Facts
from isoscope.explain.known_calls import _BY_NAME
from isoscope.model import ALLOC, LOCK, TIME

APP = Library("libraries/1", "file:///opt/app", "app", "/opt/app")
LIBC = Library("libraries/2", "file:///lib/libc.so.6", "libc.so.6", "/lib/libc.so.6", system=True)
PROCESS = Process("isolates/42", "app", 42)
PERIOD_US = 1000
START_US = 5_000_000


class Run:
    def __init__(self, *, wall: bool = True, kind: str = TIME, late: bool = False) -> None:
        """late: samples that follow each other are one late look of wall mode."""
        self.profile = Profile(kind=kind)
        self.profile.period_us = self.profile.true_period_us = PERIOD_US
        self.wall, self.late = wall, late
        self.functions: dict[str, Function] = {}
        self.clocks: dict[str, int] = {}
        self.others: dict[str, Profile] = {}

    def function(self, name: str, **more: Any) -> Function:
        library = LIBC if name in _BY_NAME or name.startswith(("__", "operator ")) else APP
        told = {"library": library, "kind": "Native", "file": "/src/app.c" if library is APP else "", **more}
        return self.functions.setdefault(name, Function(f"functions/{len(self.functions)}", name, **told))

    def node(self, stack: str, profile: Optional[Profile] = None) -> int:
        profile, node = self.profile if profile is None else profile, 0
        for call in stack.split(">"):
            for depth, part in enumerate(call.split("|")):
                name, _, line = part.rpartition(":") if part.rpartition(":")[2].isdecimal() else (part, "", "0")
                node = profile.node(node, profile.frame(self.function(name), int(line), depth > 0))
        return node

    def add(self, stack: str, state: str = "Running", samples: int = 1, *, thread: str = "main",
            weight: Optional[int] = None, whole: bool = True) -> Run:  # fmt: skip
        clock = self.clocks.setdefault(thread, START_US)
        number = self.profile.thread(PROCESS, 42 + list(self.clocks).index(thread), thread)
        node = self.node(stack)
        for count in range(samples):
            clock += PERIOD_US + (1 if count % 2 else -1) * (not self.late)
            us = weight if weight is not None else PERIOD_US if state == "Running" else 0
            self.profile.add_sample(clock, number, node, weight_us=us, state=state, whole=whole)
            if self.profile.is_memory:
                self.profile.objects.append(1.0)
        self.clocks[thread] = clock
        return self

    def allocations(self, run: Run) -> Run:
        self.others[ALLOC] = run.profile
        return self

    def wait_for(self, stack: str, what: str, ms: int, *, holder: int = 0, waits: float = 1.0, thread: str = "main",
                 kind: str = LOCK) -> Run:  # fmt: skip
        """A wait that was sampled, at the thread's clock; threads count from 42 on, in the order of their names."""
        profile = self.others.setdefault(kind, Profile(kind=kind))
        self.others.setdefault(LOCK, Profile(kind=LOCK))
        node = self.node(stack, profile)
        node = profile.node(node, profile.frame(self.function(what)))
        number = profile.thread(PROCESS, 42 + list(self.clocks).index(thread), thread)
        profile.objects.append(waits)
        profile.waited_for.append("mutex" if kind == LOCK else "futex")
        profile.holders.append(holder)
        profile.add_sample(self.clocks[thread], number, node, weight_us=round(1000 * ms * waits), state="Lock")
        return self

    def facts(self, **more: Any) -> Facts:
        profiles = {TIME: self.profile, **self.others}
        span_us = self.profile.last_us - self.profile.first_us
        return Facts(**{"profiles": profiles, "span_us": span_us, "has_waits": self.wall, **more})
