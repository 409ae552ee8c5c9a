"""For runtimes.py: which functions a program's time is in, as isoscope and each language's own profilers tell it.

    top = of_py_spy(path) -> Counter of the innermost function of the language, by its name without module and class
    print(beside({"isoscope": top, "py-spy": other}))

Native frames count for who called them: most of the others do not see them.
"""

from __future__ import annotations

import json
import pstats
import re
from collections import Counter
from pathlib import Path
from typing import Callable, Iterator, Optional

TEN = 10
BUILT_IN = ("<built-in>", "<jvm>", "[C]")  # files of what no people of the language wrote, as isoscope tells them
JAVA_METHOD = re.compile(r"^[\w/$]+\.[\w$<>]+$")  # "java/util/HashMap.get"; C++ has "::", or no dot


def short(name: str) -> str:
    """Some tell the class, some do not."""
    return name.rpartition(".")[2]


def folded(path: Path) -> Iterator[tuple[list[str], int]]:
    for line in path.read_text(errors="replace").splitlines():
        stack, _, count = line.rpartition(" ")
        if stack and line[0] != "#":
            yield stack.split(";"), int(count)


def of_folded(path: Path, name_of: Callable[[str], Optional[str]]) -> Counter[str]:
    """name_of: a frame's; None: it is none of the language's."""
    top: Counter[str] = Counter()
    for stack, count in folded(path):
        names = (name_of(frame) for frame in reversed(stack))
        inner = next((name for name in names if name), None)
        if inner:
            top[short(inner)] += count
    return top


def of_isoscope(path: Path) -> Counter[str]:
    """A file of `isoscope export cpusamples`."""
    told = json.loads(path.read_text())
    people = {one["id"]: short(one["name"]) for one in told["functions"]
              if one.get("runtime") and one.get("file", BUILT_IN[0]) not in BUILT_IN}
    top: Counter[str] = Counter()
    for sample in told["samples"]:
        inner = next((frame["function"]["id"] for frame in sample["stack"] if frame["function"]["id"] in people), None)
        if inner:
            top[people[inner]] += 1
    return top


def of_py_spy(path: Path) -> Counter[str]:
    """recurses (program.py:13)"""
    return of_folded(path, lambda frame: frame.rpartition(" (")[0])


def of_austin(path: Path) -> Counter[str]:
    """P12;T0:12;/tmp/program.py:recurses:13"""
    def name_of(frame: str) -> Optional[str]:
        words = frame.rsplit(":", 2)
        return words[1] if len(words) == 3 else None

    return of_folded(path, name_of)


def of_cprofile(path: Path) -> Counter[str]:
    """Microseconds; those of functions written in C are their callers'."""
    top: Counter[str] = Counter()
    for (file, _, name), (_, _, own, _, callers) in pstats.Stats(str(path)).stats.items():  # type: ignore[attr-defined]
        if file != "~":
            top[short(name)] += int(own * 1e6)
            continue
        for (caller_file, _, caller), times in callers.items():
            if caller_file != "~":
                top[short(caller)] += int(times[2] * 1e6)
    return top


def of_cpuprofile(path: Path) -> Counter[str]:
    """V8's; what is built in has no file."""
    told = json.loads(path.read_text())
    nodes = {node["id"]: node["callFrame"] for node in told["nodes"]}
    parents = {child: node["id"] for node in told["nodes"] for child in node.get("children", ())}
    top: Counter[str] = Counter()
    for node in told["samples"]:
        while node and not nodes[node]["url"]:
            node = parents.get(node)
        if node:
            top[short(nodes[node]["functionName"]) or "(anonymous)"] += 1
    return top


def of_async_profiler(path: Path) -> Counter[str]:
    return of_folded(path, lambda frame: frame if JAVA_METHOD.match(frame) else None)


def of_rbspy(path: Path) -> Counter[str]:
    """Object#recurses - /tmp/program.rb:2, or recurses - ...; [c function] - (unknown):0"""
    def name_of(frame: str) -> Optional[str]:
        name, _, place = frame.partition(" - ")
        return None if "(unknown)" in place or name.startswith("[c function]") else re.split(r"[#.]", name)[-1]

    return of_folded(path, name_of)


def ranks(top: Counter[str]) -> set[str]:
    return {name for name, _ in top.most_common(TEN)}


def beside(tops: dict[str, Counter[str]]) -> str:
    """Own time of the first one's top ten, by all that each has seen."""
    first = next(iter(tops.values()))
    lines = [f"    {'own time':<28}" + "".join(f"{name:>16}" for name in tops)]
    for name, _ in first.most_common(TEN):
        shares = (f"{top[name] / max(top.total(), 1):.1%}" for top in tops.values())
        lines.append(f"    {name[:28]:<28}" + "".join(f"{share:>16}" for share in shares))
    common = (f"{len(ranks(first) & ranks(top))} of {len(ranks(first))}" for top in tops.values())
    lines.append(f"    {'in its top ten, too':<28}" + "".join(f"{words:>16}" for words in common))
    seen = "".join(f"{top.total():>16}" for top in tops.values())
    return "\n".join([*lines, f"    {'of so many samples (us)':<28}{seen}"])
