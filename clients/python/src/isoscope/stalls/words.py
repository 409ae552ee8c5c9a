"""A stall in words: "1,900-1,904 ms", "lock", "compress (libz.so.1) at zip.c:120"."""

from __future__ import annotations

from typing import Optional, Sequence, Union

from ..protocol import PrivateStallCulprit, PrivateStallPlace
from . import Loop, Stall, Unwatched

Place = Union[PrivateStallCulprit, PrivateStallPlace]

_SECONDS_FROM_US = 10_000_000
UNKNOWN = "[unknown]"


def time(us: float) -> str:
    if us < 1000:
        return f"{us:.0f} us"
    if us < 10_000:
        return f"{us / 1000:.1f} ms"
    return f"{_number(us)} {_unit(us)}"


def span(micros: Sequence[int]) -> str:
    """Of a range. Where both ends look alike it is one number."""
    least, most = micros
    if most < 10_000:
        return time(least) if time(least) == time(most) else f"{time(least)} to {time(most)}"
    first, last = _number(least, most), _number(most)
    return f"{last if first == last else f'{first}-{last}'} {_unit(most)}"


def _unit(us: float) -> str:
    return "s" if us >= _SECONDS_FROM_US else "ms"


def _number(us: float, like: Optional[float] = None) -> str:
    """In the unit of like, or its own."""
    seconds = _unit(us if like is None else like) == "s"
    return f"{us / 1e6:,.2f}" if seconds else f"{round(us / 1000):,}"


def lasted(stall: Stall) -> str:
    text = span(stall["durationMicros"])
    return f"{text} so far" if stall["ongoing"] else text


def loop_name(stall: Stall) -> str:
    """With its thread, where that has another name."""
    name, thread = stall["name"] or stall["thread"], stall["thread"]
    return name if name == thread or not thread else f"{name} ({thread})"


def culprit(stall: Stall) -> str:
    return (stall["culprit"]["function"] if "culprit" in stall else "") or UNKNOWN


def caller(stall: Stall) -> str:
    """The function of the application's own code; "" where that is the culprit, or is not known."""
    function = stall["caller"]["function"] if "caller" in stall else ""
    return "" if function == culprit(stall) else function


def place(told: Place) -> str:
    """The function, where it is."""
    text = told["function"] or UNKNOWN
    if told["library"]:
        text += f" ({told['library']})"
    if told.get("file"):
        text += f" at {told['file']}" + (f":{told['line']}" if told.get("line") else "")
    return text


def sentence(stall: Stall) -> str:
    """All of it on one line."""
    text = f"{loop_name(stall)}: {lasted(stall)}, {stall['cause']}, in {culprit(stall)}"
    return f"{text}, called by {caller(stall)}" if caller(stall) else text


def loop(told: Loop) -> str:
    """By which it is known."""
    name = told["name"] or told["thread"] or str(told["tid"])
    return f"{name} ({told['kind']})"


def unwatched(told: Unwatched) -> str:
    return (
        f"not watched: thread {told['tid']} '{told['thread']}' of process {told['pid']}: it waits in "
        f"{told['systemCall']} by system calls of its own"
    )
