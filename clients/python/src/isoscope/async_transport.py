"""Whole text messages over a WebSocket, for asyncio. transport.py is its twin, with the rules for
URIs.

Errors   CannotConnect while connecting, also where the package websockets is missing; ServiceEnded
         and ProtocolError after.
"""

from __future__ import annotations

import asyncio
import importlib
from typing import Any, Protocol, Union

from .errors import CannotConnect, ProtocolError, ServiceEnded
from .transport import farewell, no_service, refusal, service_address, unix_path, websocket_uri

_NO_CODE = 1006  # the connection broke


class AsyncTransport(Protocol):
    """What an AsyncClient needs of a connection. Tests bring their own."""

    async def send(self, text: str) -> None: ...

    async def receive(self) -> Union[str, bytes]: ...

    async def close(self) -> None: ...


async def connect_websocket(uri: str, timeout_s: float) -> AsyncTransport:
    try:
        # By name: its top level fills itself only when it is used, which type checkers cannot
        # follow.
        websockets: Any = importlib.import_module("websockets")
    except ImportError as error:
        raise CannotConnect(
            "AsyncClient needs the package websockets (Debian: python3-websockets)"
        ) from error
    path, address = unix_path(uri), service_address(uri)
    # A reply is as big as the profile. Pings are the service's business.
    options: dict[str, Any] = {
        "max_size": None, "ping_interval": None, "open_timeout": timeout_s, "close_timeout": 1,
        "compression": None,
    }  # fmt: skip
    try:
        if path:
            connection = await websockets.unix_connect(path, "ws://localhost/ws", **options)
        else:
            connection = await websockets.connect(websocket_uri(uri), **options)
    except websockets.InvalidStatusCode as error:
        raise CannotConnect(refusal(address, error.status_code)) from error
    except (TimeoutError, asyncio.TimeoutError) as error:
        raise CannotConnect(f"{address} does not answer") from error
    except (websockets.WebSocketException, ValueError, EOFError) as error:
        raise CannotConnect(f"{address} answers, but not as a VM service") from error
    except OSError as error:
        raise CannotConnect(no_service(address, error)) from error
    return _Connected(connection, address, websockets.ConnectionClosed)


class _Connected:
    def __init__(self, connection: Any, address: str, closed: type[Exception]) -> None:
        self._connection, self._address, self._closed = connection, address, closed

    async def send(self, text: str) -> None:
        try:
            await self._connection.send(text)
        except (OSError, self._closed) as error:
            raise self._ended() from error

    async def receive(self) -> Union[str, bytes]:
        try:
            message: Union[str, bytes] = await self._connection.recv()
        except (OSError, self._closed) as error:
            raise self._ended() from error
        if isinstance(message, bytes):
            raise ProtocolError("the service sent a binary message")
        return message

    def _ended(self) -> ServiceEnded:
        told = self._connection
        return ServiceEnded(farewell(self._address, str(told.close_reason or ""),
                                     told.close_code or _NO_CODE))  # fmt: skip

    async def close(self) -> None:
        await self._connection.close()
