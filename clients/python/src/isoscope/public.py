"""The public getCpuSamples, as a real Dart VM answers it, in this package's words.

    reply of getCpuSamples -> from_public -> CpuSamples

There a stack is a list of numbers in a table of functions, libraries stand in the functions'
owners, and nothing tells lines or CPU time of a sample.

Errors   ProtocolError names what is missing or points nowhere.
"""

from __future__ import annotations

from typing import Any, Mapping, Optional

from .errors import ProtocolError
from .model import CpuSamples, Function, Library, Sample


def from_public(reply: Mapping[str, Any], count: Optional[int] = None) -> CpuSamples:
    """count: only the oldest so many."""
    libraries: dict[str, Library] = {}
    try:
        functions = [_function(n, entry, libraries) for n, entry in enumerate(reply["functions"])]
        with_stack = [entry for entry in reply["samples"] if entry["stack"]]
        samples = [_sample(entry, functions) for entry in with_stack]
        samples.sort(key=lambda sample: sample.timestamp_us)
        without = len(reply["samples"]) - len(with_stack)
        return CpuSamples(
            period_us=int(reply["samplePeriod"]),
            origin_us=int(reply["timeOriginMicros"]),
            extent_us=int(reply["timeExtentMicros"]),
            samples=samples[:count],
            functions={function.id: function for function in functions},
            libraries=libraries,
            pid=int(reply["pid"]) if reply.get("pid") else None,
            lost={"no_stack": without} if without else {},
        )
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise ProtocolError(f"getCpuSamples: the reply lacks or breaks {error}") from error


def _sample(entry: Mapping[str, Any], functions: list[Function]) -> Sample:
    if min(entry["stack"]) < 0:
        raise ValueError(f"a stack: {min(entry['stack'])}")
    return Sample(
        timestamp_us=int(entry["timestamp"]),
        tid=int(entry["tid"]),
        stack=tuple([functions[number] for number in entry["stack"]]),
        whole=not entry.get("truncated"),
        user_tag=str(entry.get("userTag", "")),
        vm_tag=str(entry.get("vmTag", "")),
    )


def _function(number: int, entry: Mapping[str, Any], libraries: dict[str, Library]) -> Function:
    told = entry["function"]
    file = str(entry.get("resolvedUrl") or "")
    line = (told.get("location") or {}).get("line")
    return Function(
        # Native functions have none; two that only their places tell apart are two.
        id=str(told.get("id") or f"native/{number}"),
        name=_name(told),
        library=_library(told, file, libraries),
        kind=str(entry.get("kind") or ""),
        file=file,
        line=int(line or 0),
    )


def _name(told: Mapping[str, Any]) -> str:
    """With its class, or the function it stands in: names are short in Dart."""
    name = str(told["name"])
    owner = told.get("owner")
    while isinstance(owner, dict) and owner.get("type") in ("@Class", "@Function"):
        outer = str(owner.get("name") or "")
        if outer and outer != "::" and not name.startswith(f"{outer}."):
            name = f"{outer}.{name}"
        owner = owner.get("owner")
    return name


def _library(
    told: Mapping[str, Any], file: str, libraries: dict[str, Library]
) -> Optional[Library]:
    owner = told.get("owner")
    while isinstance(owner, dict) and owner.get("type") != "@Library":
        owner = owner.get("library") or owner.get("owner")
    uri = str(owner.get("uri") or file) if isinstance(owner, dict) else file
    if not uri and str(told["name"]).startswith("[Native] /"):
        path = str(told["name"])[len("[Native] ") :].rpartition("+")[0]
        uri = f"file://{path}" if path else ""
    if not uri:
        return None
    key = str(owner.get("id") or uri) if isinstance(owner, dict) else uri
    if key not in libraries:
        name = uri if uri.startswith(("package:", "dart:")) else uri.rpartition("/")[2]
        system = uri.startswith(("dart:", "org-dartlang-sdk:"))
        libraries[key] = Library(key, uri, name, system=system)
    return libraries[key]
