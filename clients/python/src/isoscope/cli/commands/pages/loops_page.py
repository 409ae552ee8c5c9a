"""What `isoscope stalls --loops` shows: how long dispatches took, how often each loop was late, who cannot be watched."""

from __future__ import annotations

from typing import Mapping, cast

from ....stalls import Loop, LoopStats, LoopTimes, words
from ....text import Style, printable, shorten
from ...terminal.page import Column, Page, Row, text_of

_LEVELS = ("jank", "stall", "hang", "dead")


def text(stats: LoopStats, style: Style) -> list[str]:
    loops = stats["loops"]
    parts = [_head(stats)]
    if loops:
        parts += [text_of(_dispatches(loops), style.width, style), text_of(_late(loops), style.width, style)]
    delayed = [loop for loop in loops if loop["delay"]["count"]]
    if delayed:
        parts.append(text_of(_delays(delayed), style.width, style))
    rest = [printable(words.unwatched(thread)) for thread in stats["unwatched"]]
    rest += _frames(stats)
    if rest:
        parts.append([line if style.width is None else shorten(line, style.width) for line in rest])
    return "\n\n".join("\n".join(part) for part in parts).split("\n")


def _head(stats: LoopStats) -> list[str]:
    limits = ", ".join(f"{level} {words.time(ms * 1000)}" for level, ms in _by_level(stats["limits"]).items())
    return [f"watched: {stats['watch']}; late from {limits} on"]


def _by_level(told: object) -> dict[str, int]:
    """In their order."""
    numbers = cast(Mapping[str, int], told)
    return {level: numbers[level] for level in _LEVELS}


def _name(loop: Loop) -> str:
    notes = [note for note, given in (("ended", loop["ended"]), ("not watched", not loop["watched"])) if given]
    name = loop["name"] or loop["thread"] or str(loop["tid"])
    return f"{name} ({', '.join(notes)})" if notes else name


def _times(times: LoopTimes) -> list[str]:
    """At most so long."""
    if not times["count"]:
        return ["-"] * 4
    return [words.time(part[1]) for part in (times["p50"], times["p95"], times["p99"], times["max"])]


def _dispatches(loops: list[Loop]) -> Page:
    titles = ("dispatches", "p50", "p95", "p99", "max", "blocking")
    columns = [Column("loop", grows=True), Column("thread"), Column("kind")]
    columns += [Column(title, right=True) for title in titles]
    rows = [
        Row([_name(loop), loop["thread"] or str(loop["tid"]), loop["kind"], f"{loop['dispatches']:,}",
             *_times(loop["dispatch"]), words.time(loop["blockingMicros"])])  # fmt: skip
        for loop in loops
    ]
    return Page(columns=columns, rows=rows)


def _late(loops: list[Loop]) -> Page:
    columns = [Column("loop", grows=True), *(Column(level, right=True) for level in _LEVELS)]
    columns += [Column("dismissed", right=True), Column("stalls by cause", grows=True)]
    return Page(columns=columns, rows=[_late_row(loop) for loop in loops])


def _late_row(loop: Loop) -> Row:
    counts = _by_level(loop["levels"])
    cells = [_name(loop), *(f"{count:,}" for count in counts.values()), f"{loop['dismissed']:,}", _causes(loop)]
    return Row(cells, hot=any(count for level, count in counts.items() if level != "jank"))


def _causes(loop: Loop) -> str:
    ranked = sorted(loop["causes"].items(), key=lambda entry: (-entry[1], entry[0]))
    return ", ".join(f"{cause} {count:,}" for cause, count in ranked)


def _delays(loops: list[Loop]) -> Page:
    titles = ("times", "p50", "p95", "p99", "max")
    columns = [Column("wanted to run, and waited", grows=True), *(Column(title, right=True) for title in titles)]
    rows = [Row([_name(loop), f"{loop['delay']['count']:,}", *_times(loop["delay"])]) for loop in loops]
    return Page(columns=columns, rows=rows)


def _frames(stats: LoopStats) -> list[str]:
    frames = stats["frames"]
    if not frames["count"]:
        return []
    return [f"frames: {frames['count']:,}, {frames['dropped']:,} dropped at {frames['refreshRate']} a second"]
