#!/usr/bin/env python3
"""A command of the client, whose service is the pages that trees.py has written: all that
`isoscope tree URI` does, but for the socket.

    trees_child.py FOLDER NAME tree|table|... [OPTIONS]
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Optional

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "clients/python/src"))

from isoscope import cli, client  # noqa: E402

URI = "http://127.0.0.1:1/x=/"
_ANSWERS: dict[str, dict[str, Any]] = {
    "getVM": {"type": "VM", "isolates": [{"id": "isolates/1", "name": "app:main()"}]},
}


class Pages:
    """A transport: each _getCpuSamples gets the next page, with the id that the first request had
    where that was written."""

    folder = Path()
    name = ""

    def __init__(self, uri: str, timeout_s: float) -> None:
        self._page = 0
        self._answer = b""

    def send(self, text: str) -> None:
        request = json.loads(text)
        if request["method"] != "_getCpuSamples":
            reply = {"id": request["id"], "result": _ANSWERS[request["method"]]}
            self._answer = json.dumps(reply).encode()
            return
        page = (self.folder / f"{self.name}-{self._page}.json").read_bytes()
        self._answer = page.replace(b'"id":"1"', b'"id":"%s"' % request["id"].encode(), 1)
        self._page += 1

    def receive(self) -> bytes:
        answer, self._answer = self._answer, b""
        return answer

    def set_timeout(self, timeout_s: Optional[float]) -> None:
        pass

    def close(self) -> None:
        pass


if __name__ == "__main__":
    Pages.folder, Pages.name = Path(sys.argv[1]), sys.argv[2]
    client.WebSocketTransport = Pages  # type: ignore[assignment,misc]
    sys.exit(cli.main([*sys.argv[3:], URI]))
