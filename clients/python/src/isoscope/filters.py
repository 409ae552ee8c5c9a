"""A part of a profile: by thread, by tag, by what stands in the stacks.

    Profile -> by_process, by_thread, by_tag, by_stack -> Profile

What is left out is gone from all that is made of the result: its trees, files, shares.

Errors   NoMatch for a name that nothing has, with those that come near.
"""

from __future__ import annotations

import difflib
import re
from array import array
from typing import Iterable, Optional

from .errors import IsoscopeError
from .model import Function
from .profile import Profile
from .trees.runtime_frames import ALL, FOLDED, MINE, Folding, is_mine, is_system

_NEAR, _LISTED = 0.5, 8


class NoMatch(IsoscopeError):
    """A filter names what is not there."""


def by_process(profile: Profile, wanted: str) -> Profile:
    """wanted: a process' name, its pid or its id."""
    chosen = {
        number
        for number, thread in enumerate(profile.threads)
        if wanted in (thread.process.name, thread.process.number, thread.process.id)
        or wanted == str(thread.process.pid)
    }
    if not chosen:
        there = ", ".join(process.label for process in profile.processes) or "none"
        raise NoMatch(f"no process '{wanted}'; there are: {there}")
    return _where(profile, profile.sample_threads, chosen)


def by_thread(profile: Profile, wanted: str) -> Profile:
    """wanted: a thread's name or its tid."""
    chosen = {
        number
        for number, thread in enumerate(profile.threads)
        if wanted in (thread.name, str(thread.tid))
    }
    if not chosen:
        names = [thread.name or str(thread.tid) for thread in profile.threads]
        raise NoMatch(f"no thread '{wanted}'; {_suggestion(wanted, names)}")
    return _where(profile, profile.sample_threads, chosen)


def by_tag(profile: Profile, wanted: str) -> Profile:
    """wanted: a user tag."""
    if wanted not in profile.tags:
        raise NoMatch(f"no tag '{wanted}'; {_suggestion(wanted, profile.tags)}")
    return _where(profile, profile.user_tags, {profile.tags.index(wanted)})


def by_stack(
    profile: Profile,
    *,
    focus: Optional[str] = None,
    ignore: Optional[str] = None,
    hide: Optional[str] = None,
    system: bool = True,
    inline: bool = True,
    frames: str = ALL,
) -> Profile:
    """focus: only samples with such a function anywhere on the stack. ignore: without those. hide:
    merges its frames into their callers. system False: hides the system's libraries.
    inline False: hides what is inlined, so that a row is what the compiler made a function of.
    frames: of runtime_frames.FRAMES, by the rules there.
    Regular expressions, found anywhere in the function's name. A sample of which nothing is left
    is left out."""
    if focus is not None:
        below = _below(profile, _matching(profile, "--focus", focus))
        profile = profile.choose([i for i, node in enumerate(profile.nodes) if below[node]])
    if ignore is not None:
        below = _below(profile, _matching(profile, "--ignore", ignore))
        profile = profile.choose([i for i, node in enumerate(profile.nodes) if not below[node]])
    hidden: set[Function] = set()
    if hide is not None:
        hidden |= _matching(profile, "--hide", hide)
    if not system:
        hidden |= {f.function for f in profile.frames if is_system(f.function)}
    if frames == MINE:
        hidden |= {f.function for f in profile.frames if not is_mine(f.function)}
    if hidden or not inline:
        profile = _without(profile, hidden, inline)
    return _folded(profile) if frames == FOLDED else profile


def _matching(profile: Profile, option: str, text: str) -> set[Function]:
    pattern = re.compile(text)
    functions = {frame.function for frame in profile.frames}
    found = {f for f in functions if pattern.search(f.name) or pattern.search(f.full_name)}
    if not found:
        near = _suggestion(text, [function.name for function in functions])
        raise NoMatch(f"{option} '{text}' matches no function; {near}")
    return found


def _below(profile: Profile, functions: set[Function]) -> bytearray:
    """Of each node: is one of the functions on its stack?"""
    frames = bytearray([frame.function in functions for frame in profile.frames])
    below = bytearray(len(profile.callers))
    for node in range(1, len(below)):
        below[node] = below[profile.callers[node]] or frames[profile.node_frames[node]]
    return below


def _without(profile: Profile, hidden: set[Function], inline: bool) -> Profile:
    """inline False: an inlined frame goes, too, where it has a caller."""
    trimmed = Profile(pcs=profile.pcs)
    shown = [
        None if f.function in hidden else trimmed.frame(f.function, f.line, f.inlined, f.offset)
        for f in profile.frames
    ]
    folded = bytearray([not inline and frame.inlined for frame in profile.frames])
    nodes = array("I", [0])  # of the profile -> of what is left of the stack
    child, frames, callers = trimmed.ways().child, trimmed.node_frames, trimmed.callers
    for caller, number in zip(profile.callers[1:], profile.node_frames[1:]):
        frame, node = shown[number], nodes[caller]
        if frame is not None and not (folded[number] and caller):
            node = child(node, frame, frames, callers)
        nodes.append(node)
    return _with_nodes(profile, trimmed, nodes)


def _folded(profile: Profile) -> Profile:
    changed, folding = Profile(pcs=profile.pcs), Folding()
    shown = []
    for f in profile.frames:
        function = folding.shown(f.function)
        is_one = function is not f.function
        shown.append(changed.frame(function) if is_one else changed.frame(function, f.line, f.inlined, f.offset))
    nodes = array("I", [0])
    child, frames, callers = changed.ways().child, changed.node_frames, changed.callers
    for caller, number in zip(profile.callers[1:], profile.node_frames[1:]):
        node = nodes[caller]
        outer = changed.frames[frames[node]].function if node else None
        if not folding.goes_on(outer, profile.frames[number].function):
            node = child(node, shown[number], frames, callers)
        nodes.append(node)
    return _with_nodes(profile, changed, nodes)


def _with_nodes(profile: Profile, trimmed: Profile, nodes: array[int]) -> Profile:
    """The profile's samples with other stacks. nodes: of the profile -> of trimmed; 0: nothing is left."""
    kept = profile.choose([i for i, node in enumerate(profile.nodes) if nodes[node]])
    # With what finds them by value, for who adds samples later.
    for table in ("frames", "callers", "node_frames", "_index", "_table"):
        setattr(kept, table, getattr(trimmed, table))
    kept.nodes = array("I", [nodes[node] for node in kept.nodes])
    return kept


def _where(profile: Profile, column: Iterable[int], chosen: set[int]) -> Profile:
    return profile.choose([place for place, number in enumerate(column) if number in chosen])


def _suggestion(wanted: str, names: Iterable[str]) -> str:
    names = sorted({name for name in names if name})
    folded = {name.casefold(): name for name in names}
    plain = re.sub(r"[\\^$.*+?()\[\]{}|]", "", wanted).casefold()
    near = difflib.get_close_matches(plain, folded, n=_LISTED, cutoff=_NEAR)
    if near:
        return "similar: " + ", ".join(folded[name] for name in near)
    if len(names) <= _LISTED:
        return "there are: " + (", ".join(names) or "none")
    return f"none of the {len(names):,} names is similar"
