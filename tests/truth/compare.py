"""What python_oracle.c wrote: isoscope's frames beside CPython's own dump of the same moment.

    for sample in samples(path): ...        compared(path) -> Compared

Frames are matched from the outermost one inwards; where the dump does not reach it, from the innermost one outwards. The dump
has a function's short name, isoscope its full one.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Iterator, NamedTuple

DUMPED_MAX = 100  # frames; the dump leaves out the rest
FRAME = re.compile(r'^  File (?:"(.*)"|(\?\?\?)), line (\d+|\?\?\?) in (.*)$')
TRAMPOLINE = "<interpreter trampoline>"  # 3.12: a frame that is no function's
INVALID = "  <invalid frame>"  # 3.14: the dump ends there, mostly at what calls an __init__
CUT = 490  # characters of a text in the dump, about; then "..."


class Frame(NamedTuple):
    name: str
    line: int  # 0: none


class Sample(NamedTuple):
    ours: list[Frame]  # innermost first
    theirs: list[Frame]
    eval_frames: int  # that the native stack has
    eval_left: int  # that stand for themselves
    eval_at_leaf: int  # of those, the innermost: it has no frame yet, or has it no more
    natives_differ: bool
    lock: str
    has_lock: int
    task: str
    text: str


class Compared(NamedTuple):
    samples: int
    whole: int  # samples whose frames all have the dump's names, in its order
    frames: int
    names: int  # frames with the dump's name in the same place
    lines: int  # of those, with its line
    eval_frames: int
    eval_left: int
    eval_at_leaf: int  # of those, innermost: on its way in or out, without a frame of its own
    natives_differ: int
    faults: int  # dumps that ended with a fault: these samples are left out
    differences: list[str]

    def __str__(self) -> str:
        return (f"{self.samples} samples, {self.whole / max(self.samples, 1):.4%} whole; {self.frames} frames: names "
                f"{self.names / max(self.frames, 1):.4%}, lines {self.lines / max(self.names, 1):.4%}; native frames "
                f"without partner {self.eval_left - self.eval_at_leaf} of {self.eval_frames} "
                f"({(self.eval_left - self.eval_at_leaf) / max(self.eval_frames, 1):.4%}), and {self.eval_at_leaf} on the way "
                f"in or out; natives differ in {self.natives_differ}; "
                f"dumps that faulted {self.faults}")


def unescaped(text: str) -> str:
    return re.sub(r"\\x([0-9a-f]{2})|\\u([0-9a-f]{4})|\\U([0-9a-f]{8})",
                  lambda m: chr(int(m[1] or m[2] or m[3], 16)), text)


def dumped(text: str) -> list[Frame]:
    frames = []
    for line in text.splitlines():
        match = FRAME.match(line)
        if match:
            frames.append(Frame(unescaped(match[4]), int(match[3]) if match[3] != "???" else 0))
    return frames


def samples(path: Path) -> Iterator[Sample]:
    with open(path, encoding="utf-8", errors="replace") as file:
        next(file)
        for line in file:
            words = line.rstrip("\n").split(" ", 5)
            ours, left, at_leaf, first = [], 0, 0, True
            for line in file:
                kind = line.split(" ", 1)[0].strip()
                if kind == "dump":
                    break
                left += kind == "eval"
                at_leaf += first and kind == "eval"
                first = False
                if kind == "python":
                    _, number, rest = line.rstrip("\n").split(" ", 2)
                    ours.append(Frame(rest.partition("\t")[0], int(number)))
            text = []
            for line in file:
                if line == "end\n":
                    break
                text.append(line)
            whole = "".join(text)
            theirs = dumped(whole)
            if theirs and theirs[0].name == TRAMPOLINE:  # 3.12: the eval function is being entered
                at_leaf = max(at_leaf, min(left, 1))
            theirs = [frame for frame in theirs if frame.name != TRAMPOLINE]
            yield Sample(ours, theirs, int(words[1]), left, at_leaf, words[2] == "1", words[3], int(words[4]),
                         words[5] if len(words) > 5 else "", whole)


def same_name(full: str, short: str) -> bool:
    if short.endswith("..."):
        short = short[:-3]
        return len(short) > CUT and short in full
    return full == short or full.endswith("." + short)


def is_cut(sample: Sample) -> bool:
    """Those that begin an eval function count in 3.14, and are not shown."""
    return len(sample.theirs) + sample.eval_frames >= DUMPED_MAX or INVALID in sample.text


def compared(path: Path, differences_max: int = 10) -> Compared:
    counts: Counter[str] = Counter()
    differences: list[str] = []
    with open(path) as file:
        faults = int(file.readline().split()[1])
    for sample in samples(path):
        ours, theirs = sample.ours, sample.theirs
        if is_cut(sample):
            ours, theirs = ours[:len(theirs)], theirs[:len(ours)]
            pairs = list(zip(ours, theirs))
        else:
            pairs = list(zip(reversed(ours), reversed(theirs)))
        named = [(a, b) for a, b in pairs if same_name(a.name, b.name)]
        whole = len(named) == len(ours) == len(theirs)
        lined = sum(a.line == b.line for a, b in named)
        counts.update(samples=1, whole=whole, frames=max(len(ours), len(theirs)), names=len(named), lines=lined,
                      eval_frames=sample.eval_frames, eval_left=sample.eval_left, eval_at_leaf=sample.eval_at_leaf,
                      natives_differ=sample.natives_differ)
        if (not whole or lined != len(named)) and len(differences) < differences_max:
            differences.append(shown(sample))
    return Compared(*(counts[name] for name in Compared._fields[:9]), faults, differences)


def shown(sample: Sample) -> str:
    lines = [f"  {len(sample.ours)} frames of isoscope's, {len(sample.theirs)} dumped; eval frames "
             f"{sample.eval_frames}, left {sample.eval_left}"]
    for i in range(max(len(sample.ours), len(sample.theirs))):
        ours, theirs = (frames[-1 - i] if i < len(frames) else None for frames in (sample.ours, sample.theirs))
        if not ours or not theirs or not same_name(ours.name, theirs.name) or ours.line != theirs.line:
            lines.append(f"    {i:>3} from the root: {ours and f'{ours.name}:{ours.line}'} "
                         f"| {theirs and f'{theirs.name}:{theirs.line}'}")
    return "\n".join(lines)


if __name__ == "__main__":
    import sys
    for name in sys.argv[1:]:
        result = compared(Path(name))
        print(result)
        print("\n".join(result.differences))
