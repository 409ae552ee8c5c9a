"""What streams sent, until somebody reads it. No sockets, no threads.

    Conversation.receive -> Event -> Inbox.put   ...   Inbox.take -> the reader of that stream
"""

from __future__ import annotations

from collections import deque
from typing import Optional, Sequence

from .rpc import Event

KEPT = 100_000  # of one stream: a reader that comes never shall not cost all memory


class Inbox:
    """In the order of arrival. Of a stream that nobody reads the newest KEPT stay."""

    def __init__(self, kept: int = KEPT) -> None:
        self._kept = kept
        self._streams: dict[str, deque[tuple[int, Event]]] = {}
        self._arrived = 0
        self.dropped = 0  # events that nobody read in time

    def put(self, event: Event) -> None:
        self._arrived += 1
        waiting = self._streams.setdefault(event.stream_id, deque())
        waiting.append((self._arrived, event))
        if len(waiting) > self._kept:
            waiting.popleft()
            self.dropped += 1

    def take(self, streams: Sequence[str] = ()) -> Optional[Event]:
        """The oldest of these streams, of all where none is named; None: there is none."""
        waiting = [
            events
            for stream, events in self._streams.items()
            if events and (not streams or stream in streams)
        ]
        if not waiting:
            return None
        return min(waiting, key=lambda events: events[0][0]).popleft()[1]
