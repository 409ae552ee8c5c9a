"""Profiles as pandas data frames, for notebooks.

Needs      pandas, on first use; nothing else here does.
Errors     IsoscopeError where it is not installed.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from .errors import IsoscopeError

if TYPE_CHECKING:
    from .model import CpuSamples
    from .profile import Profile


def profile_columns(profile: Profile) -> dict[str, list[Any]]:
    """A row a sample, in the order of arrival. `stack`: function names, leaf first."""
    names: dict[int, tuple[str, ...]] = {0: ()}
    libraries: dict[int, str] = {}
    for node in sorted(set(profile.nodes)):
        stack = profile.stack(node)
        names[node] = tuple([frame.function.name for frame in stack])
        library = stack[0].function.library if stack else None
        libraries[node] = library.name if library else ""
    threads = [profile.threads[number] for number in profile.sample_threads]
    return {
        "time_us": list(profile.times_us),
        "process": [thread.process.name for thread in threads],
        "tid": [thread.tid for thread in threads],
        "thread": [thread.name for thread in threads],
        "function": [names[node][0] if names[node] else "" for node in profile.nodes],
        "library": [libraries.get(node, "") for node in profile.nodes],
        "cpu_us": list(profile.weights_us),
        "user_tag": [profile.tags[number] for number in profile.user_tags],
        "state": [profile.vm_tags[number] for number in profile.states],
        "whole": [place not in profile.cut for place in range(len(profile))],
        "stack": [names[node] for node in profile.nodes],
    }


def samples_columns(samples: CpuSamples) -> dict[str, list[Any]]:
    """The same of one process' samples in the list form."""
    rows = samples.samples
    return {
        "time_us": [row.timestamp_us for row in rows],
        "tid": [row.tid for row in rows],
        "function": [row.stack[0].name for row in rows],
        "library": [row.stack[0].library.name if row.stack[0].library else "" for row in rows],
        "user_tag": [row.user_tag for row in rows],
        "state": [row.vm_tag for row in rows],
        "whole": [row.whole for row in rows],
        "stack": [tuple([function.name for function in row.stack]) for row in rows],
    }


def data_frame(columns: dict[str, list[Any]]) -> Any:
    try:
        pandas = importlib.import_module("pandas")
    except ImportError as error:
        raise IsoscopeError("to_frame() needs pandas (pip install isoscope[pandas])") from error
    return pandas.DataFrame(columns)
