"""The wire's own CpuSamples: a reply of `_getCpuSamples` in the list form, or of a Dart VM's
getCpuSamples. What no reply needs, because other methods tell it, stands in `_processes` and
`_threads`: their names.

Lost: of files where a sample lies in another one than its function, the function's is kept.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, BinaryIO, Mapping, Optional

from ..errors import BadFile, ProtocolError
from ..model import NO_OFFSET, Code, CpuSamples, Function, Library, Process
from ..profile import Frame, Profile
from ..public import from_public
from .common import in_time, pid_of, write_json
from .spreadsheet import function_table

_KINDS = ("Native", "Stub", "Jit", "Interpreted", "Unnamed")


def write(profile: Profile, out: BinaryIO) -> None:
    write_json(_Writer(profile).reply(), out)


class _Writer:
    def __init__(self, profile: Profile) -> None:
        self._profile = profile
        self._libraries: dict[Optional[Library], dict[str, Any]] = {}
        self._functions: dict[Function, dict[str, Any]] = {}
        self._stacks: dict[int, list[dict[str, Any]]] = {}
        self._table = function_table(profile)

    def reply(self) -> dict[str, Any]:
        profile = self._profile
        processes = profile.processes
        samples = [self._sample(place, len(processes) > 1) for place in in_time(profile)]
        counters = {f"lost_{cause}": count for cause, count in sorted(profile.lost.items())}
        return {
            "type": "CpuSamples",
            "samplePeriod": profile.period_us,
            "maxStackDepth": max((len(stack) for stack in self._stacks.values()), default=0),
            "sampleCount": len(profile),
            "timeOriginMicros": profile.first_us,
            "timeExtentMicros": profile.last_us - profile.first_us,
            "pid": pid_of(processes[0]) if processes else 0,
            "_counters": {"true_period_us": profile.true_period_us, **counters},
            "_processes": [
                {"isolateId": p.id, "name": p.name, "pid": pid_of(p)} for p in processes
            ],
            "_threads": [
                {"isolateId": t.process.id, "tid": t.tid, "name": t.name}
                for t in profile.threads
                if t.name
            ],
            "samples": samples,
            "functions": list(self._functions.values()),
            "libraries": list(self._libraries.values()),
        }

    def _sample(self, place: int, many: bool) -> dict[str, Any]:
        profile, node = self._profile, self._profile.nodes[place]
        if node not in self._stacks:
            self._stacks[node] = [self._frame(frame) for frame in profile.stack(node)]
        thread = profile.threads[profile.sample_threads[place]]
        whose = {"isolateId": thread.process.id} if many else {}
        cut = {"truncated": True} if place in profile.cut else {}
        return {
            "timestamp": profile.times_us[place],
            "tid": thread.tid,
            **whose,
            "stack": self._stacks[node],
            "vmTag": profile.vm_tags[profile.states[place]],
            "userTag": profile.tags[profile.user_tags[place]],
            "cpuNanos": profile.weights_us[place] * 1000,
            **cut,
        }

    def _frame(self, frame: Frame) -> dict[str, Any]:
        entry: dict[str, Any] = {
            "function": {"type": "@Function", "id": self._function(frame.function)},
            "kind": "Native",
        }
        if frame.line:
            entry["line"] = frame.line
        if frame.inlined:
            entry["inlined"] = True
        if frame.offset != NO_OFFSET:
            entry["offset"] = frame.offset
        return entry

    def _function(self, function: Function) -> str:
        if function not in self._functions:
            self._functions[function] = self._function_entry(function)
        return str(self._functions[function]["id"])

    def _function_entry(self, function: Function) -> dict[str, Any]:
        own, total = self._table.get(function, [0, 0])[:2]
        entry: dict[str, Any] = {
            "id": f"functions/{len(self._functions)}",
            "name": function.name,
            "owner": {"type": "@Library", "id": self._library(function.library)},
            "inclusiveTicks": total,
            "exclusiveTicks": own,
            "kind": function.kind if function.kind in _KINDS else "Native",
        }
        if function.runtime:
            entry["runtime"] = function.runtime
        if function.full_name and function.full_name != function.name:
            entry["fullName"] = function.full_name
        if function.offset != NO_OFFSET:
            entry["offset"] = function.offset
        if function.size:
            entry["size"] = function.size
        if function.file:
            entry["file"] = function.file
        if function.line:
            entry["line"] = function.line
        return entry

    def _library(self, library: Optional[Library]) -> str:
        if library not in self._libraries:
            entry = {
                "id": f"libraries/{len(self._libraries)}",
                "uri": library.uri if library else "",
                "name": library.name if library else "",
                "path": library.path if library else "",
                "buildId": library.build_id if library else "",
                "system": library.system if library else False,
                "loadBias": 0,
            }
            if library and library.runs:
                entry["runs"] = library.runs
            if library and library.code:
                entry["code"] = _code(library.code)
            self._libraries[library] = entry
        return str(self._libraries[library]["id"])


def _code(code: Code) -> dict[str, int]:
    base, file_offset = code.base, code.file_offset
    return {"offset": code.offset, "size": code.size, "fileOffset": file_offset, "base": base}


def read(value: Mapping[str, Any]) -> Profile:
    """A Dart VM's functions are entries that hold one; ours are the functions themselves."""
    profile = Profile(pcs=True)
    public = any("function" in entry for entry in value.get("functions") or ())
    pid = int(value.get("pid") or 0)
    whose: dict[str, list[Any]] = {}
    try:
        known = _processes(value)
        # Of one process samples do not say whose they are.
        only = next(iter(known)) if len(known) == 1 else f"isolates/{pid}"
        for sample in value["samples"]:
            whose.setdefault(str(sample.get("isolateId") or only), []).append(sample)
        for isolate, samples in (whose or {only: []}).items():
            process = known.get(isolate) or Process(isolate, "process")
            part: dict[str, Any] = {**value, "samples": samples}
            if len(whose) > 1:
                part["pid"] = process.pid or pid_of(process)
            profile.add(process, from_public(part) if public else CpuSamples.parse(part))
        _name_threads(profile, value)
    except (AttributeError, KeyError, TypeError, ValueError, ProtocolError) as error:
        raise BadFile(f"invalid CpuSamples file: {error}") from error
    # Each part carries the counters of all.
    counters = value.get("_counters") or {}
    profile.lost.clear()
    profile.lost.update({k[5:]: n for k, n in counters.items() if k.startswith("lost_") and n})
    return profile


def _processes(value: Mapping[str, Any]) -> dict[str, Process]:
    told = value.get("_processes") or ()
    return {
        str(p["isolateId"]): Process(str(p["isolateId"]), str(p["name"]), int(p["pid"]) or None)
        for p in told
    }


def _name_threads(profile: Profile, value: Mapping[str, Any]) -> None:
    """Only those that have samples."""
    names = {
        (str(thread["isolateId"]), int(thread["tid"])): str(thread["name"])
        for thread in value.get("_threads") or ()
    }
    for number, thread in enumerate(profile.threads):
        name = names.get((thread.process.id, thread.tid), "")
        if name:
            profile.threads[number] = replace(thread, name=name)
