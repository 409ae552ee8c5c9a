"""Names for a profile that was served without (`isoscope run --no-symbols`).

    reply of _getCpuSamples, on any machine -> named -> the same reply with names, lines and
                                                         inlined frames

The files are this machine's: each is believed only when its build id is the one that ran. What
cannot be named stays as it is, and its library says why.

Errors   IsoscopeError when `isoscope symbolize` cannot be run.
"""

from __future__ import annotations

import json
import os
import subprocess
from typing import Any, Mapping

from .errors import IsoscopeError

_UNNAMED = "Unnamed"


def named(reply: Mapping[str, Any]) -> dict[str, Any]:
    """A new reply; the given one is not changed."""
    libraries = {entry["id"]: dict(entry) for entry in reply["libraries"]}
    unnamed = [f for f in reply["functions"] if _can_be_named(f, libraries)]
    answers = _symbolize([_address(f, libraries) for f in unnamed])
    functions: dict[str, dict[str, Any]] = {}
    chains: dict[str, list[dict[str, Any]]] = {}
    for function, answer in zip(unnamed, answers):
        library = libraries[function["owner"]["id"]]
        library.update({k: answer[k] for k in ("reason", "linesReason") if k in answer})
        if answer["frames"]:
            chains[function["id"]] = [_frame(f, library, functions) for f in answer["frames"]]
    for function in reply["functions"]:
        if function["id"] not in chains:
            functions[function["id"]] = dict(function, inclusiveTicks=0, exclusiveTicks=0)
    samples = [_sample(sample, chains) for sample in reply["samples"]]
    _count(samples, functions)
    return {
        **reply,
        "samples": samples,
        "functions": list(functions.values()),
        "libraries": list(libraries.values()),
    }


def _can_be_named(function: Mapping[str, Any], libraries: Mapping[str, Mapping[str, Any]]) -> bool:
    """An address in a file."""
    path = str(libraries[function["owner"]["id"]].get("path") or "")
    return function.get("kind") == _UNNAMED and "offset" in function and path.startswith("/")


def _address(function: Mapping[str, Any], libraries: Mapping[str, Mapping[str, Any]]) -> str:
    library = libraries[function["owner"]["id"]]
    path = str(library["path"]).replace("\n", "?")
    return f"{library.get('buildId') or '-'} {function['offset']} {path}\n"


def _symbolize(addresses: list[str]) -> list[dict[str, Any]]:
    command = [os.environ.get("ISOSCOPE_COMMAND") or "isoscope", "symbolize"]
    try:
        done = subprocess.run(
            command, input="".join(addresses), capture_output=True, text=True, errors="replace"
        )
    except OSError as error:
        raise IsoscopeError(f"cannot run `{' '.join(command)}`: {error}") from error
    if done.returncode:
        said = done.stderr.strip() or f"it ended with status {done.returncode}"
        raise IsoscopeError(f"`{' '.join(command)}` failed: {said}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def _frame(
    frame: Mapping[str, Any], library: Mapping[str, Any], functions: dict[str, dict[str, Any]]
) -> dict[str, Any]:
    """A frame of a stack; its function goes into the table, with an id of the library's."""
    function = dict(frame["function"])
    function_id = f"functions/{library['id'].rpartition('/')[2]}/{function.pop('key').rpartition('/')[2]}"
    functions.setdefault(
        function_id,
        {
            "id": function_id,
            **{k: v for k, v in function.items() if k == "name" or v != function["name"]},
            "owner": {"type": "@Library", "id": library["id"]},
            "inclusiveTicks": 0,
            "exclusiveTicks": 0,
        },
    )
    place = {k: frame[k] for k in ("line", "file", "inlined") if k in frame}
    return {"function": {"type": "@Function", "id": function_id}, "kind": "Native", **place}


def _sample(
    sample: Mapping[str, Any], chains: Mapping[str, list[dict[str, Any]]]
) -> dict[str, Any]:
    stack: list[Any] = []
    for frame in sample["stack"]:
        pc = {"offset": frame["offset"]} if "offset" in frame else {}
        chain = chains.get(frame["function"]["id"])
        stack += [frame] if chain is None else [{**part, **pc} for part in chain]
    return {**sample, "stack": stack}


def _count(samples: list[dict[str, Any]], functions: Mapping[str, dict[str, Any]]) -> None:
    for sample in samples:
        ids = [frame["function"]["id"] for frame in sample["stack"]]
        functions[ids[0]]["exclusiveTicks"] += 1
        for function_id in set(ids):
            functions[function_id]["inclusiveTicks"] += 1
