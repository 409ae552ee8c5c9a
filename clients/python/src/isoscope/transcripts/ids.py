"""A live service's names for what a recorded one called otherwise: isolates, functions, cursors,
methods that clients have registered.

    ids = Ids()
    ids.learn(recorded_reply, reply)         # {"id": "isolates/41"} and {"id": "isolates/7"}
    ids.translated('{"params": {"isolateId": "isolates/41"}}')

What stands at the same place of two replies is the same thing. Times stay as they were recorded.
"""

from __future__ import annotations

import json

from .entry import Json, parsed

# Members whose values a client gives back: objects' ids, a table's cursor, a registered method.
_NAMING = ("id", "next", "method")


class Ids:
    def __init__(self) -> None:
        self._ours: dict[str, str] = {}

    def learn(self, recorded: Json, got: Json) -> None:
        if isinstance(recorded, dict) and isinstance(got, dict):
            for name in recorded.keys() & got.keys():
                before, now = recorded[name], got[name]
                if name not in _NAMING:
                    self.learn(before, now)
                elif isinstance(before, str) and isinstance(now, str):
                    self._ours[before] = now
        elif isinstance(recorded, list) and isinstance(got, list):
            for before, now in zip(recorded, got):
                self.learn(before, now)

    def translated(self, text: str) -> str:
        """The same characters where nothing has another name."""
        try:
            message = parsed(text)
        except ValueError:
            return text
        if not isinstance(message, dict):
            return text
        told = {name: self._renamed(one) for name, one in message.items() if name in ("method", "params")}
        return text if all(message[name] == one for name, one in told.items()) else json.dumps({**message, **told})

    def _renamed(self, value: Json) -> Json:
        if isinstance(value, dict):
            return {name: self._renamed(one) for name, one in value.items()}
        if isinstance(value, list):
            return [self._renamed(one) for one in value]
        return self._ours.get(value, value) if isinstance(value, str) else value
