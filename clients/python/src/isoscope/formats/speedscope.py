"""speedscope's JSON: one sampled profile a thread, in microseconds, on the time line of all.

A sample stands at the end of the CPU time that it weighs. What passes between two samples is a
sample with an empty stack, which speedscope leaves blank and counts nowhere. Gaps shorter than half
a period are joined into the next longer one. In wall mode a sample lasts one period; its CPU time and
its state then stand in `_cpuMicros` and `_states`. Speedscope shows one place of a frame: where that is a
source file, the library stands in `_library`.

Lost: tags, states of CPU mode, cut stacks, lines but those of definitions, which frames were inlined.

Reading takes other writers' files, too: evented profiles, other units of time, and plain counts
(their samples have no CPU time).
"""

from __future__ import annotations

import re
from typing import Any, BinaryIO, Iterable, Iterator, Mapping, Sequence

from ..errors import BadFile
from ..model import Function, Library, Process
from ..profile import CPU, Profile
from ..stacks import FunctionTree
from .common import (
    ThreadSamples,
    by_thread,
    library_path,
    middle_weight,
    pid_of,
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
    threads, widths = by_thread(profile), _widths(profile)
    zero_us = min((t - width for t, width in zip(profile.times_us, widths)), default=0)
    write_json(
        {
            "$schema": SCHEMA,
            "exporter": "isoscope",
            "name": profile.meta.get("program") or ", ".join(p.name for p in profile.processes),
            "_isoscope": {
                "period": profile.period_us,
                "processes": {str(pid_of(p)): p.name for p in profile.processes},
            },
            "activeProfileIndex": _busiest(threads, widths),
            "profiles": [_thread(profile, tree, stacks, one, widths, zero_us) for one in threads],
            "shared": {"frames": [_frame(function) for function in functions]},
        },
        out,
    )


def _widths(profile: Profile) -> Sequence[int]:
    """Of each sample, in us."""
    if profile.weight == CPU:
        return profile.weights_us
    return [max(profile.period_us, profile.true_period_us, 1)] * len(profile)


def _busiest(threads: list[ThreadSamples], widths: Sequence[int]) -> int:
    sums = [sum(widths[place] for place in one.places) for one in threads]
    return sums.index(max(sums)) if sums else 0


def _thread(
    profile: Profile,
    tree: FunctionTree,
    stacks: dict[int, list[int]],
    one: ThreadSamples,
    widths: Sequence[int],
    zero_us: int,
) -> dict[str, Any]:
    samples: list[list[int]] = []
    weights: list[int] = []
    cpu_us: list[int] = []
    states: list[str] = []
    end = 0
    timed = profile.first_us < profile.last_us
    for place in one.places:
        gap = profile.times_us[place] - widths[place] - zero_us - end
        if timed and gap > profile.period_us // 2:
            samples.append([])
            weights.append(gap)
            cpu_us.append(0)
            states.append("")
            end += gap
        samples.append(stacks[tree.of[profile.nodes[place]]])
        weights.append(widths[place])
        cpu_us.append(profile.weights_us[place])
        states.append(profile.vm_tags[profile.states[place]])
        end += widths[place]
    return {
        "type": "sampled",
        "name": thread_label(one.thread),
        "unit": "microseconds",
        "startValue": 0,
        "endValue": end,
        "samples": samples,
        "weights": weights,
        **({} if profile.weight == CPU else {"_cpuMicros": cpu_us, "_states": states}),
    }


def _frame(function: Function) -> dict[str, Any]:
    frame: dict[str, Any] = {"name": function.name}
    library = library_path(function)
    if function.file:
        frame["file"] = function.file
        if function.line:
            frame["line"] = function.line
        if library:
            frame["_library"] = library
    elif library:
        frame["file"] = library
    return frame


def read(value: Mapping[str, Any]) -> Profile:
    profile = Profile()
    try:
        profile.meta["program"] = str(value.get("name") or "")
        functions = _functions(value["shared"]["frames"])
        ours = value.get("_isoscope") or {}
        for number, one in enumerate(value["profiles"]):
            _read_thread(profile, functions, one, number, ours.get("processes") or {})
        profile.period_us = int(ours.get("period") or 0)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise BadFile(f"invalid speedscope file: {error!r}") from error
    profile.period_us = profile.period_us or middle_weight(profile)
    return profile


def _functions(frames: Iterable[Mapping[str, Any]]) -> list[Function]:
    libraries: dict[str, Library] = {}
    functions = []
    for number, frame in enumerate(frames):
        file, line = str(frame.get("file") or ""), int(frame.get("line") or 0)
        path = str(frame.get("_library") or "")
        if file and not line and not path:  # as we write a library
            path, file = file, ""
        library = None
        if path:
            library = libraries.setdefault(path, Library(path, path, path.rpartition("/")[2], path))
        functions.append(Function(str(number), str(frame["name"]), library, file=file, line=line))
    return functions


def _read_thread(
    profile: Profile,
    functions: list[Function],
    one: Mapping[str, Any],
    number: int,
    programs: Mapping[str, Any],
) -> None:
    label = str(one.get("name") or f"profile {number + 1}")
    name, pid, tid = label, 0, number + 1
    if ours := _LABEL.fullmatch(label):
        name, pid, tid = ours[1], int(ours[2]), int(ours[3])
    program = str(programs.get(str(pid)) or profile.meta["program"] or name)
    process = Process(f"isolates/{pid}", program, pid or None)
    thread = profile.thread(process, tid, name)
    counted = one["unit"] == "none"
    if not counted and one["unit"] not in _UNIT_US:
        raise BadFile(f"speedscope profile in {one['unit']}: only times and counts can be read")
    factor = 1.0 if counted else _UNIT_US[one["unit"]]
    spans = _sampled(one) if one["type"] == "sampled" else _evented(one)
    cpu_us, states = one.get("_cpuMicros"), one.get("_states") or ()
    for place, (end, weight, stack) in enumerate(spans):
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
            # Ours of wall mode: widths are periods.
            weight_us = round(weight * factor if cpu_us is None else cpu_us[place])
            state = str(states[place]) if states else ""
            profile.add_sample(round(end * factor), thread, node, weight_us=weight_us, state=state)


def _sampled(one: Mapping[str, Any]) -> Iterator[tuple[float, float, list[int]]]:
    """Where each ends, how long it is, and its stack, outermost first."""
    samples, weights, end = one["samples"], one["weights"], one["startValue"]
    if len(samples) != len(weights):
        raise BadFile(f"invalid speedscope profile: {len(samples)} samples, {len(weights)} weights")
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
            raise BadFile(f"invalid speedscope profile: frame {event['frame']} closes, and is not open")
