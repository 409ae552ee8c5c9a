"""The JSON-RPC conversation, text in and text out: no sockets, no threads, no clock.

    Conversation.request -> text for the socket
    text from the socket -> Conversation.receive -> Reply | Event | None

A service answers in any order, so replies are matched by id. Ids are strings: some services
echo numbers as strings.

Errors   receive raises ProtocolError for what is no message of the protocol. An error reply
         is no failure here: it is a Reply with its error set.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Mapping, Optional, Union

from .errors import ProtocolError, RpcError
from .gc_pause import no_collector


@dataclass(frozen=True)
class Reply:
    """The answer to one request: either a result or an error."""

    id: str
    method: str
    result: Mapping[str, Any]
    error: Optional[RpcError] = None

    def unwrap(self) -> Mapping[str, Any]:
        if self.error is not None:
            raise self.error
        return self.result


@dataclass(frozen=True)
class Event:
    """What a stream sends unasked."""

    stream_id: str
    event: Mapping[str, Any]


class Conversation:
    """One connection's requests under way. One thread at a time."""

    def __init__(self) -> None:
        self._last_id = 0
        self._pending: dict[str, str] = {}  # id -> method

    @property
    def pending(self) -> int:
        return len(self._pending)

    def request(self, method: str, params: Optional[Mapping[str, Any]] = None) -> tuple[str, str]:
        """The new request's id, and its text."""
        self._last_id += 1
        request_id = str(self._last_id)
        message = {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params or {}}
        self._pending[request_id] = method
        return request_id, json.dumps(message)

    def receive(self, text: Union[str, bytes]) -> Union[Reply, Event, None]:
        """None: a reply that nobody waits for."""
        message = _decode(text)
        if message.get("method") == "streamNotify":
            return _event(message)
        method = self._pending.pop(str(message.get("id")), None)
        if method is None:
            return None
        return _reply(str(message["id"]), method, message)


def _decode(text: Union[str, bytes]) -> dict[str, Any]:
    try:
        with no_collector():
            message = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ProtocolError(f"the service sent something that is not JSON: {error}") from error
    if not isinstance(message, dict):
        raise ProtocolError("the service sent JSON that is not an object")
    return message


def _event(message: Mapping[str, Any]) -> Event:
    params = message.get("params")
    if not isinstance(params, dict) or not isinstance(params.get("event"), dict):
        raise ProtocolError("the service sent an event without content")
    return Event(str(params.get("streamId")), params["event"])


def _reply(request_id: str, method: str, message: Mapping[str, Any]) -> Reply:
    error, result = message.get("error"), message.get("result")
    if isinstance(error, dict):
        return Reply(request_id, method, {}, RpcError(method, error))
    if not isinstance(result, dict):
        raise ProtocolError(f"{method}: the reply has neither a result nor an error")
    return Reply(request_id, method, result)
