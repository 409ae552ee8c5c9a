"""What `isoscope stalls` shows: the list, and all of one stall."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional, Sequence

from ....protocol import PrivateStallStack
from ....stalls import Stall, words
from ....text import Style, counted, fit_function, printable, shorten
from ...terminal.page import Column, Page, Row, text_of

_BAR = 24  # characters of the longest run
_STACKS = 3  # that are printed: the last different ones
_TIMES = 6  # of looks that met one, the last ones
_PREFIX = 8  # functions of the common beginning that are printed: the inner ones
_RUNNING_US = 5_000  # that are worth a look at samples of CPU time


@dataclass(frozen=True)
class Where:
    """How to look closer."""

    origin_us: int  # that --from counts from
    source: str  # as it was typed
    process: str  # "": there is one only


def listed(stalls: Sequence[Stall], origin_us: int) -> Page:
    columns = [
        Column("no", right=True), Column("at", right=True), Column("loop"), Column("level"),
        Column("duration", right=True), Column("cause"), Column("culprit", grows=True, fit=fit_function),
        Column("called by", grows=True, fit=fit_function), Column("equal", right=True),
    ]  # fmt: skip
    foot = []
    silent = sum(not stall["told"] for stall in stalls)
    if silent:
        foot.append(f"{counted(silent, 'stall')} of these had no event: equal ones were told often enough")
    return Page(columns=columns, rows=[_row(stall, origin_us) for stall in stalls], foot=foot)


def _row(stall: Stall, origin_us: int) -> Row:
    return Row(
        [
            str(stall["number"]), _at(stall["timeOriginMicros"], origin_us), words.loop_name(stall),
            stall["level"], words.lasted(stall), stall["cause"], words.culprit(stall), words.caller(stall),
            f"{stall['equals']:,}",
        ],  # fmt: skip
        hot=stall["level"] != "stall",
    )


def _at(us: int, origin_us: int) -> str:
    return f"{(us - origin_us) / 1e6:.3f}"


# One in full.


def one(stall: Stall, where: Where, style: Style) -> list[str]:
    parts = [
        _head(stall, where, style),
        _story(stall, style),
        _prefix(stall, style),
        _stacks(stall, style),
        _closer(stall, where, style),
    ]
    return "\n\n".join("\n".join(part) for part in parts if part).split("\n")


def _head(stall: Stall, where: Where, style: Style) -> list[str]:
    what = f"stall {stall['number']}: {words.loop_name(stall)}, {words.lasted(stall)} ({stall['level']})"
    lines = [style.bold(printable(what))]
    rows = [("at", f"{_at(stall['timeOriginMicros'], where.origin_us)} s, in thread {stall['tid']} of process "
                   f"{stall['pid']}; its limit is {words.time(stall['limitMicros'])}"),
            ("cause", f"{stall['cause']}: {stall['causeText']}")]  # fmt: skip
    if "culprit" in stall:
        culprit = stall["culprit"]
        took = f"{words.time(culprit['micros'])} without a break, {culprit['share']:.0%} of the looks"
        rows.append(("culprit", f"{words.place(culprit)}: {took}"))
    if "caller" in stall and words.caller(stall):
        rows.append(("called by", words.place(stall["caller"])))
    rows.append(("thread", _thread(stall)))
    rows += [(name, text) for name, text in (("tag", stall.get("tag")), ("slice", stall.get("slice"))) if text]
    rows.append(("equal", _equals(stall)))
    return lines + [f"  {style.dim(f'{name:<9}')}  {printable(text)}" for name, text in rows]


def _thread(stall: Stall) -> str:
    parts = [f"ran {words.time(stall['runningMicros'])}", f"slept {words.time(stall['sleepingMicros'])}",
             f"wanted a processor for {words.time(stall['runnableMicros'])}"]  # fmt: skip
    if stall["faults"]:
        parts.append(counted(stall["faults"], "major page fault"))
    if stall["hostLateMicros"]:
        parts.append(f"isoscope itself was {words.time(stall['hostLateMicros'])} late")
    return ", ".join(parts)


def _equals(stall: Stall) -> str:
    text = f"{counted(stall['equals'], 'stall')} of this loop with this culprit so far"
    return text if stall["told"] else f"{text}; they were told often enough, and this one had no event"


def _story(stall: Stall, style: Style) -> list[str]:
    runs = stall["story"]
    if not runs:
        return []
    longest = max(run["toMicros"] - run["fromMicros"] for run in runs) or 1
    begin = stall["timeOriginMicros"]
    columns = [Column("from", right=True), Column("took", right=True), Column(""),
               Column("function", grows=True, fit=fit_function), Column("looks", right=True)]  # fmt: skip
    rows = []
    for run in runs:
        took = run["toMicros"] - run["fromMicros"]
        bar = "#" * max(1, round(_BAR * took / longest))
        cells = [words.time(run["fromMicros"] - begin), words.time(took), bar, run["function"] or words.UNKNOWN,
                 f"{run['looks']:,}"]  # fmt: skip
        rows.append(Row(cells, hot=took == longest))
    return ["story", *_indented(text_of(Page(columns=columns, rows=rows), _inner(style), style))]


def _prefix(stall: Stall, style: Style) -> list[str]:
    names = stall["prefix"]
    if not names:
        return []
    cut = "... > " if len(names) > _PREFIX else ""
    text = printable(cut + " > ".join(names[-_PREFIX:]))
    width = _inner(style)
    return ["all its stacks begin with", f"  {text if width is None else shorten(text, width)}"]


def _stacks(stall: Stall, style: Style) -> list[str]:
    lines: list[str] = []
    room = _inner(style)
    for stacks in _alike(stall.get("stacks", []))[-_STACKS:]:
        at = ", ".join(words.time(max(0, stack["micros"] - stall["timeOriginMicros"])) for stack in stacks[-_TIMES:])
        lines.append(f"stack at {at}: {stacks[-1]['state']}")
        lines += [f"  {style.function(name or words.UNKNOWN, room)}" for name in stacks[-1]["functions"]]
    return lines


def _alike(stacks: Sequence[PrivateStallStack]) -> list[list[PrivateStallStack]]:
    """Those that follow each other and are the same, in one."""
    groups: list[list[PrivateStallStack]] = []
    for stack in stacks:
        if groups and groups[-1][-1]["functions"] == stack["functions"]:
            groups[-1].append(stack)
        else:
            groups.append([stack])
    return groups


def _closer(stall: Stall, where: Where, style: Style) -> list[str]:
    if stall["runningMicros"] < _RUNNING_US:
        return ["look closer", "  it hardly ran, so samples of CPU time tell nothing of it; "
                               "`isoscope run --mode wall` samples sleepers, too"]  # fmt: skip
    first = (stall["timeOriginMicros"] - where.origin_us) / 1e6
    last = first + stall["timeExtentMicros"] / 1e6
    process = f" --process {where.process}" if where.process else ""
    window = f"--from {max(first, 0):.3f} --to {max(last, 0):.3f}"
    return ["look closer", f"  isoscope tree{process} {window} {where.source}"]


def _inner(style: Style) -> Optional[int]:
    return None if style.width is None else style.width - 2


def _indented(lines: list[str]) -> list[str]:
    return [f"  {line}" for line in lines]
