"""Events of a service as they come, for commands that print them."""

from __future__ import annotations

import time
from typing import Iterator, Optional

from ..client import Client
from ..errors import TimedOut
from ..rpc import Event
from .recording import Recording

_LOOK_S = 0.25  # for the end of a command


def events(client: Client, deadline: Optional[float], recording: Optional[Recording]) -> Iterator[Event]:
    """Of the streams that it listens to, until the deadline (time.monotonic), or until the command has ended and
    nothing comes any more. ServiceEnded when the service goes."""
    while True:
        over = recording is not None and recording.over
        left_s = None if deadline is None else deadline - time.monotonic()
        if left_s is not None and left_s <= 0:
            return
        looks = [s for s in (left_s, None if recording is None else _LOOK_S) if s is not None]
        try:
            yield client.next_event(timeout_s=min(looks) if looks else None)
        except TimedOut:
            if over:
                return


def clock(time_ms: int) -> str:
    """Of an event's time, as it was here."""
    return f"{time.strftime('%H:%M:%S', time.localtime(time_ms / 1000))}.{time_ms % 1000:03d}"
