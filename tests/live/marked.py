"""Programs that say on each line what runs there, held against what was sampled.

    x += area(n)        #: Shape#make > Shape#area | block in Shape#make

At this line Shape#make runs or calls Shape#area, and the block runs. What has no line of its own (methods written
in C) is said of by a line that is a mark alone. So a frame with a wrong name, caller or line is seen, whatever
was sampled when.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from harness import Service

from isoscope.model import Function


class Frame(NamedTuple):
    name: str
    line: int  # 0: it has none


class Marks:
    def __init__(self, program: Path) -> None:
        self.at: dict[int, dict[str, set[str]]] = {}  # line -> who runs there -> what it may call
        self.pairs: set[tuple[str, str]] = set()  # who may call whom
        for number, line in enumerate(program.read_text().splitlines(), 1):
            mark = re.search(r"#: (.*)", line)
            if mark:
                self._read(mark[1], 0 if line.startswith(("#:", "--#:")) else number)
        self.names = {name for here in self.at.values() for name in here} | {c for _, c in self.pairs}

    def _read(self, mark: str, line: int) -> None:
        for clause in mark.split(" | "):
            name, _, callees = clause.strip().partition(" > ")
            called = {callee.strip() for callee in callees.split(",")} - {""}
            self.at.setdefault(line, {}).setdefault(name, set()).update(called)
            self.pairs |= {(name, callee) for callee in called}

    def has(self, frame: Frame, callee: str) -> bool:
        calls = self.at.get(frame.line, {}).get(frame.name)
        return calls is not None and (not callee or callee in calls)


class Verdict(NamedTuple):
    frames: int
    wrong_names: Counter  # those that the program does not have
    wrong_callers: Counter  # (caller, callee)
    wrong_lines: Counter  # (name, line, callee), of callers and callees that are right
    roots: Counter  # the outermost frame of each stack

    def share(self, wrong: Counter) -> float:
        return sum(wrong.values()) / max(self.frames, 1)


def judge(marks: Marks, stacks: list[list[Frame]]) -> Verdict:
    verdict = Verdict(sum(map(len, stacks)), Counter(), Counter(), Counter(), Counter())
    for stack in stacks:
        verdict.roots[stack[-1].name] += 1
        callee = ""
        for frame in stack:
            if frame.name not in marks.names:
                verdict.wrong_names[frame.name] += 1
            elif callee in marks.names and (frame.name, callee) not in marks.pairs:
                verdict.wrong_callers[frame.name, callee] += 1
            elif frame.line and not marks.has(frame, callee):
                verdict.wrong_lines[frame.name, frame.line, callee] += 1
            callee = frame.name
    return verdict


def other_file(function: Function, program: Path) -> bool:
    """Of what the runtime itself, or an extension, is written in that language."""
    return bool(function.runtime) and function.library.path.startswith("/") and \
        not function.library.path.startswith(str(program))


def stacks_of(service: Service, runtime: str, program: Path) -> list[list[Frame]]:
    """What that runtime runs in all samples, innermost first. Lines are those of the program's file."""
    found = []
    for _, profile in service.profile():
        for sample in profile.samples:
            if any(other_file(function, program) for function in sample.stack):
                continue
            lines = sample.lines or (0,) * len(sample.stack)
            found.append([Frame(function.name, line if function.library.path == str(program) else 0)
                          for function, line in zip(sample.stack, lines) if function.runtime == runtime])
    return [stack for stack in found if stack]
