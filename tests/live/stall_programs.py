"""Programs that know nothing of isoscope, each with ways to make its loop late and what is right to say then
(stall_servers.py, stall_toolkits.py).

    for kind in SERVERS:
        if not (reason := kind.missing()):
            with kind(folder).running() as program:      # under isoscope
                program.learned()
                stall = program.late(case)

A case is right when its stall has one of its causes and one of its functions is the culprit, its caller or (where the
program's own is deeper, in an interpreter) on the culprit's stack. Where a runtime runs the program, it is its own function, and
the line that stands there.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from abc import ABC, abstractmethod
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Callable, Iterator, NamedTuple, Optional

from harness import DEADLINE_S, Client, Service, service_of, until
from stall_loop import Stall, all_stalls, loops, was_disturbed

PYTHON = "/usr/bin/python3"
LATE_MS = 600  # what a case takes, about; twice the limit
TRIES = 4


class Case(NamedTuple):
    name: str
    act: Callable[[], None]  # returns when it is over
    causes: set[str]
    names: str  # a pattern
    line: str = ""  # a text in the line of it that is told


def functions(stall: Stall) -> list[str]:
    """The culprit, its caller, and what stood on the stacks that had the culprit on top."""
    culprit = stall.get("culprit", {}).get("function", "")
    found = [culprit, stall.get("caller", {}).get("function", "")]
    for stack in stall.get("stacks", []):
        if stack["functions"][:1] == [culprit]:
            found += stack["functions"]
    return found


def is_right(stall: Stall, case: Case, source: str) -> bool:
    causes = case.causes | ({"starved", "host"} if was_disturbed(stall) else set())
    if case.line:
        culprit = stall.get("culprit", {})
        told = source.splitlines()[culprit.get("line", 0) - 1 :][:1]
        return stall["cause"] in causes and culprit.get("function") == case.names and case.line in "".join(told)
    return stall["cause"] in causes and any(re.search(case.names, name) for name in functions(stall))


def brief(stall: Stall) -> str:
    culprit, caller = stall.get("culprit", {}), stall.get("caller", {})
    return (f"{stall['cause']}: {stall['durationMicros'][0] / 1e3:.0f} ms, {culprit.get('function')} "
            f"({culprit.get('line')}) in {culprit.get('library')}, called by {caller.get('function')}, '{stall['causeText']}'")


class Program(ABC):
    name: str
    package: str
    needs: list[str] = []  # commands

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.service: Service
        self.client: Client

    @classmethod
    def missing(cls) -> str:
        """'' or why it cannot run here."""
        lacks = [name for name in cls.needs if not shutil.which(name)]
        return f"there is no {lacks[0]}; its package is {cls.package}" if lacks else ""

    @abstractmethod
    def command(self) -> list[str]: ...

    @abstractmethod
    def cases(self) -> list[Case]: ...

    def source(self) -> str:
        """Of what a runtime runs."""
        return ""

    def turn(self) -> None:
        """Lets its loop go round, where it does not do so by itself."""

    def environment(self) -> dict[str, str]:
        return dict(os.environ)

    @contextmanager
    def running(self, *options: str) -> Iterator[Program]:
        with service_of(self.command(), "--quiet", *options, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                        env=self.environment()) as self.service:
            with Client(self.service.uri) as self.client:
                yield self

    def learned(self) -> None:
        """Its loop is known."""
        until(lambda: self.turn() or self.loop(), f"the loop of {self.name} is known")

    def loop(self) -> Optional[dict[str, Any]]:
        return next((loop for loop in loops(self.client) if not loop["ended"]), None)

    def late(self, case: Case) -> Stall:
        """Makes it late until it is seen right; the last one that was seen, otherwise."""
        last: Optional[Stall] = None
        for _ in range(TRIES):
            cursor = self.client.call("_getStalls")["next"]
            case.act()
            end = time.monotonic() + DEADLINE_S / 4
            while time.monotonic() < end:
                new = [s for s in all_stalls(self.client, since=cursor) if not s["ongoing"]]
                right = [stall for stall in new if is_right(stall, case, self.source())]
                if right:
                    return right[0]
                last = new[-1] if new else last
                time.sleep(0.05)
        raise AssertionError(f"{self.name}, {case.name}: " + (brief(last) if last else "no stall"))


class Talking(Program):
    """Does the word of each line that it reads, and then says so."""

    def say(self, word: str) -> None:
        pipe = self.service.process.stdin
        pipe.write(f"{word}\n".encode())
        pipe.flush()
        while (line := self.service.process.stdout.readline()) and line.strip() != b"done":
            pass
        assert line, f"{self.name} has ended"

    def case(self, word: str, causes: set[str], names: str, line: str = "") -> Case:
        return Case(word, lambda: self.say(word), causes, names, line)
