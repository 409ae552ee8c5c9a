"""Findings of stalls: loops that were late by the same function for the same cause are one."""

from __future__ import annotations

from collections import defaultdict
from typing import Iterator, Sequence

from ..stalls import Stall
from ..stalls import words as stall_words
from ..text import counted
from . import commands
from .chance import Share
from .facts import Facts
from .finding import STALL, Finding
from .places import Place, way
from .words import Name, Sentence

_MAX = 3
# A loop's users wait, however small its share of the time: how bad the worst was is the rank.
_RANKS = {"stall": 0.5, "hang": 0.8, "dead": 0.9}
_LEVELS = tuple(_RANKS)
NOT_THE_PROGRAMS = ("host", "stopped", "starved")
# A wait that is over between two looks from outside cannot be told from none.
NO_MARKS = (
    "a loop's dispatches are counted inside of the program, and nothing was put into this one, which ran already: "
    "`isoscope run` watches loops"
)

_NEXT = {
    "busy": "do this work in parts, or in another thread",
    "lock": "hold that lock for less time, or keep the loop away from it",
    "io": "do this in another thread, or by calls that do not block",
    "page-fault": "touch these pages before the loop needs them, or in another thread",
    "sleep": "use a timer of the loop in place of sleeping",
    "child": "wait for the process by the loop (a pidfd, SIGCHLD), not inside of a dispatch",
}


def counting(facts: Facts) -> list[Stall]:
    """Not those that the machine, or who stopped the program, is to blame for."""
    return [stall for stall in facts.stalls or () if stall["cause"] not in NOT_THE_PROGRAMS]


def late(facts: Facts) -> Iterator[Finding]:
    groups: dict[tuple[str, ...], list[Stall]] = defaultdict(list)
    for stall in counting(facts):
        key = stall_words.loop_name(stall), stall["cause"], stall_words.culprit(stall), stall_words.caller(stall)
        groups[key].append(stall)
    ranked = sorted(groups.values(), key=lambda group: (-_rank(group), -_least_us(group)))
    for group in ranked[:_MAX]:
        yield _finding(facts, group)


def _rank(group: Sequence[Stall]) -> float:
    return max(_RANKS[stall["level"]] for stall in group)


def _least_us(group: Sequence[Stall]) -> int:
    return sum(stall["durationMicros"][0] for stall in group)


def _finding(facts: Facts, group: Sequence[Stall]) -> Finding:
    worst = max(group, key=lambda stall: stall["durationMicros"][0])
    place = place_of(worst)
    part = _share(facts, group)
    culprit: Sentence = ("culprit ", Name(stall_words.place(worst["culprit"]))) if "culprit" in worst else ()
    return Finding(
        STALL,
        ("stalls: the loop ", Name(stall_words.loop_name(worst)), " is late in ", Name(place.function)),
        part,
        "of the time the loop was late",
        place,
        _path(worst, place),
        tuple(one for one in (
            (f"{counted(len(group), 'stall')}, {stall_words.time(_least_us(group))} in all, "
             f"the longest {stall_words.span(worst['durationMicros'])}",),
            culprit,
        ) if one),
        (Name(worst["cause"]), ": ", Name(worst["causeText"])),
        (_NEXT.get(worst["cause"], "find out what it does there, and do it outside of the loop"),),
        commands.stall(worst["number"]),
        _rank(group) + part.value / 10,
    )  # fmt: skip


def place_of(stall: Stall) -> Place:
    """Of the program's own code where it is known."""
    told = stall.get("caller") or stall.get("culprit")
    if told is None:
        return Place(stall_words.UNKNOWN)
    return Place(told["function"] or stall_words.UNKNOWN, told["library"], told.get("file", ""), told.get("line", 0))


def _path(stall: Stall, place: Place) -> tuple[str, ...]:
    """As the latest look at the place met it; else what all looks met."""
    for stack in reversed(stall.get("stacks", [])):
        if place.function in stack["functions"]:
            return way(reversed(stack["functions"][stack["functions"].index(place.function) :]))
    return way(stall["prefix"])


def _share(facts: Facts, group: Sequence[Stall]) -> Share:
    """How long a stall took is a range; half of it is the error."""
    least, most = _least_us(group), sum(stall["durationMicros"][1] for stall in group)
    begin = min(stall["timeOriginMicros"] for stall in group)
    end = max(stall["timeOriginMicros"] + stall["timeExtentMicros"] for stall in group)
    span = max(facts.span_us, end - begin, 1)
    return Share(min(1.0, (least + most) / 2 / span), (most - least) / 2 / span)
