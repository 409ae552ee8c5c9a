"""speedscope's JSON: one sampled profile a thread, in microseconds of CPU time.

Its time line is that of the weights: what a thread slept is not on it. Lost: idle time, tags,
states, cut stacks, lines but those of definitions, which frames were inlined, the library where the
source file is known.

Reading takes other writers' files, too: evented profiles, other units of time, and plain counts
(their samples have no CPU time).
"""

from __future__ import annotations

import re
from typing import Any, BinaryIO, Iterable, Iterator, Mapping

from ..errors import BadFile
from ..model import Function, Library, Process
from ..profile import Profile
from ..stacks import FunctionTree
from .common import (
    ThreadSamples,
    by_thread,
    library_path,
    middle_weight,
    repeated,
    thread_label,
    write_json,
)

SCHEMA = "https://www.speedscope.app/file-format-schema.json"
_LABEL = re.compile(r"(.*) \(pid (\d+), tid (\d+)\)", re.DOTALL)
_UNIT_US = {"nanoseconds": 1e-3, "microseconds": 1.0, "milliseconds": 1e3, "seconds": 1e6}


def write(profile: Profile, out: BinaryIO) -> None:
    tree = FunctionTree(profile)
    used = tree.used({tree.of[node] for node in profile.nodes})
    functions = list(dict.fromkeys(tree.functions[node - 1] for node in used))
    numbers = {function: number for number, function in enumerate(functions)}
    stacks = {node: [numbers[f] for f in tree.stack(node)] for node in used}
    write_json(
        {
            "$schema": SCHEMA,
            "exporter": "isoscope",
            "name": profile.meta.get("program") or ", ".join(p.name for p in profile.processes),
            "activeProfileIndex": 0,
            "profiles": [_thread(profile, tree, stacks, one) for one in by_thread(profile)],
            "shared": {"frames": [_frame(function) for function in functions]},
        },
        out,
    )


def _thread(
    profile: Profile, tree: FunctionTree, stacks: dict[int, list[int]], one: ThreadSamples
) -> dict[str, Any]:
    weights = [profile.weights_us[place] for place in one.places]
    return {
        "type": "sampled",
        "name": thread_label(one.thread),
        "unit": "microseconds",
        "startValue": 0,
        "endValue": sum(weights),
        "samples": [stacks[tree.of[profile.nodes[place]]] for place in one.places],
        "weights": weights,
    }


def _frame(function: Function) -> dict[str, Any]:
    frame: dict[str, Any] = {"name": function.name}
    if function.file:
        frame["file"] = function.file
        if function.line:
            frame["line"] = function.line
    elif function.library:
        frame["file"] = library_path(function)
    return frame


def read(value: Mapping[str, Any]) -> Profile:
    profile = Profile()
    try:
        profile.meta["program"] = str(value.get("name") or "")
        functions = _functions(value["shared"]["frames"])
        for number, one in enumerate(value["profiles"]):
            _read_thread(profile, functions, one, number)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise BadFile(f"a speedscope file that lacks or breaks {error!r}") from error
    profile.period_us = middle_weight(profile)
    return profile


def _functions(frames: Iterable[Mapping[str, Any]]) -> list[Function]:
    libraries: dict[str, Library] = {}
    functions = []
    for number, frame in enumerate(frames):
        file, line = str(frame.get("file") or ""), int(frame.get("line") or 0)
        library = None
        if file and not line:  # as we write a library
            library = libraries.setdefault(file, Library(file, file, file.rpartition("/")[2], file))
            file = ""
        functions.append(Function(str(number), str(frame["name"]), library, file=file, line=line))
    return functions


def _read_thread(
    profile: Profile, functions: list[Function], one: Mapping[str, Any], number: int
) -> None:
    label = str(one.get("name") or f"profile {number + 1}")
    name, pid, tid = label, 0, number + 1
    if ours := _LABEL.fullmatch(label):
        name, pid, tid = ours[1], int(ours[2]), int(ours[3])
    process = Process(f"isolates/{pid}", profile.meta["program"] or name, pid or None)
    thread = profile.thread(process, tid, name)
    counted = one["unit"] == "none"
    if not counted and one["unit"] not in _UNIT_US:
        raise BadFile(f"a speedscope profile in {one['unit']}: only times and counts can be read")
    factor = 1.0 if counted else _UNIT_US[one["unit"]]
    spans = _sampled(one) if one["type"] == "sampled" else _evented(one)
    for end, weight, stack in spans:
        if not stack:
            continue
        node = 0
        for frame in stack:
            if frame < 0:
                raise IndexError(f"frame {frame}")
            node = profile.node(node, profile.frame(functions[frame]))
        if counted:
            for _ in repeated(weight, profile):
                profile.add_sample(0, thread, node, weight_us=0)
        else:
            profile.add_sample(round(end * factor), thread, node, weight_us=round(weight * factor))


def _sampled(one: Mapping[str, Any]) -> Iterator[tuple[float, float, list[int]]]:
    """Where each ends, how long it is, and its stack, outermost first."""
    samples, weights, end = one["samples"], one["weights"], one["startValue"]
    if len(samples) != len(weights):
        raise BadFile(f"a speedscope profile of {len(samples)} samples and {len(weights)} weights")
    for stack, weight in zip(samples, weights):
        end += weight
        yield end, weight, stack


def _evented(one: Mapping[str, Any]) -> Iterator[tuple[float, float, list[int]]]:
    stack: list[int] = []
    last = one["startValue"]
    for event in one["events"]:
        if event["at"] > last:
            yield event["at"], event["at"] - last, stack
            last = event["at"]
        if event["type"] == "O":
            stack = [*stack, event["frame"]]
        elif stack and stack[-1] == event["frame"]:
            stack = stack[:-1]
        else:
            raise BadFile(f"a speedscope profile that closes frame {event['frame']} out of turn")
