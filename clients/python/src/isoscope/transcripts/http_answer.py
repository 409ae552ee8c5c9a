"""What a service answered over HTTP."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Mapping, Optional, Sequence

from .entry import Json, parsed
from .service import ServiceAddress

_NOT_SENT = ("host", "content-length")


@dataclass
class HttpAnswer:
    status: int
    kind: str  # of the content, without its character set
    body: bytes = b""

    @staticmethod
    def of_head(head: Sequence[str]) -> HttpAnswer:
        """Of a recorded one: the status line, and then the headers."""
        first = head[0].split() if head else []
        status = int(first[1]) if len(first) > 1 and first[1].isdecimal() else 0
        fields = dict(line.lower().partition(":")[::2] for line in head[1:])
        return HttpAnswer(status, _kind(fields.get("content-type", "")))

    @staticmethod
    def ask(service: ServiceAddress, path: str, request: Mapping[str, Json]) -> HttpAnswer:
        """OSError, http.client.HTTPException."""
        connection = service.connect()
        try:
            headers = request.get("headers", {})
            connection.putrequest(str(request["method"]), path, skip_accept_encoding=True)
            upgrades = any(name.lower() == "upgrade" for name in headers)
            for name, value in headers.items():
                if name.lower() not in _NOT_SENT and (upgrades or name.lower() != "connection"):
                    connection.putheader(name, str(value))
            body = str(request.get("body", "")).encode()
            if body:
                connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body or None)
            response = connection.getresponse()
            content = b"" if response.status == 101 else response.read()
            return HttpAnswer(response.status, _kind(response.getheader("Content-Type", "")), content)
        finally:
            connection.close()

    @property
    def text(self) -> str:
        return self.body.decode("utf-8", "replace")

    @property
    def message(self) -> dict[str, Json]:
        """Of JSON-RPC; empty where it is none."""
        try:
            value = parsed(self.text)
        except ValueError:
            return {}
        return value if isinstance(value, dict) else {}


def _kind(content_type: Optional[str]) -> str:
    return (content_type or "").partition(";")[0].strip().lower()
