"""Loops that were late: for how long, why, and which function did it.

    reply of _getStalls -> stalls_of -> [Stall]          the wire's own objects, as protocol.py types them
    reply of _getLoopStats -> loop_stats_of -> LoopStats
    event on the stream Extension -> stall_event -> StallEvent
    Stall -> words.py -> text

Units    *Micros: microseconds of the samples' clock; a range is [at least, at most].
Errors   ProtocolError where a reply lacks what is needed.
"""

from __future__ import annotations

from typing import Any, Mapping, NamedTuple, Optional, cast

from ..errors import ProtocolError
from ..protocol import PrivateLoop as Loop
from ..protocol import PrivateLoopStats as LoopStats
from ..protocol import PrivateLoopTimes as LoopTimes
from ..protocol import PrivateStall as Stall
from ..protocol import PrivateUnwatchedThread as Unwatched
from ..protocol import _PrivateStallRequired as _StallRequired
from ..rpc import Event

__all__ = [
    "BEGIN",
    "END",
    "Loop",
    "LoopStats",
    "LoopTimes",
    "Stall",
    "StallEvent",
    "UPDATE",
    "Unwatched",
    "loop_stats_of",
    "stall_event",
    "stalls_of",
]

STREAM = "Extension"
BEGIN, UPDATE, END = "begin", "update", "end"
_KINDS = {"Isoscope.Stall.Begin": BEGIN, "Isoscope.Stall.Update": UPDATE, "Isoscope.Stall.End": END}


class StallEvent(NamedTuple):
    kind: str  # BEGIN, UPDATE, END
    time_ms: int  # since the epoch
    stall: Stall  # without its stacks


def stalls_of(reply: Mapping[str, Any]) -> list[Stall]:
    """In the order in which they last changed. None where the process is gone."""
    if reply.get("type") == "Sentinel":
        return []
    told = reply.get("stalls")
    if not isinstance(told, list):
        raise ProtocolError("_getStalls: the reply has no list of stalls")
    return [_checked(one, _StallRequired, "_getStalls: a stall") for one in told]


def loop_stats_of(reply: Mapping[str, Any]) -> Optional[LoopStats]:
    """None: the process is gone."""
    if reply.get("type") == "Sentinel":
        return None
    stats: LoopStats = _checked(reply, LoopStats, "_getLoopStats: the reply")
    for loop in stats["loops"]:
        _checked(loop, Loop, "_getLoopStats: a loop")
    return stats


def stall_event(event: Event) -> Optional[StallEvent]:
    """None: it tells of something else."""
    told = event.event
    kind = _KINDS.get(str(told.get("extensionKind")))
    if kind is None:
        return None
    stall = _checked(told.get("extensionData"), _StallRequired, f"{told['extensionKind']}: the stall")
    return StallEvent(kind, int(told.get("timestamp", 0)), stall)


def _checked(told: Any, what: Any, name: str) -> Any:
    """It has all that what (a TypedDict) asks for."""
    missing = what.__annotations__.keys() - told.keys() if isinstance(told, dict) else {"all"}
    if missing:
        raise ProtocolError(f"{name} lacks {', '.join(sorted(missing))}")
    return cast(what, told)
