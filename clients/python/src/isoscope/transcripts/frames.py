"""A WebSocket's frames and messages, over bytes that somebody else moves.

    frames = Frames(stream)                      # stream: a buffered reader
    for frame, raw in frames: ...                # raw: its bytes, as they came
    message = messages.add(frame)                # (opcode, bytes) with its last frame

The library reads the frames; what it has no server for (frames without a mask) is here.

Errors   websocket.WebSocketException: what came is no frame; frames.taken has the bytes. The end of
         the stream ends the iteration.
"""

from __future__ import annotations

from typing import IO, Any, Iterator, Optional

import websocket

TEXT: int = websocket.ABNF.OPCODE_TEXT
BINARY: int = websocket.ABNF.OPCODE_BINARY
CLOSE: int = websocket.ABNF.OPCODE_CLOSE
PING: int = websocket.ABNF.OPCODE_PING
PONG: int = websocket.ABNF.OPCODE_PONG
NO_CODE, BROKEN = 1005, 1006  # a close without a code; an end without a close

Message = tuple[int, bytes]  # opcode, content


class Frames:
    """One direction of a connection."""

    def __init__(self, stream: Any) -> None:
        self.taken = b""  # of a frame that is not complete, or none
        self._stream = stream
        self._raw: list[bytes] = []

    def __iter__(self) -> Iterator[tuple[Any, bytes]]:
        frames = websocket.frame_buffer(self._read, True)
        while True:
            try:
                frame = frames.recv_frame()
            except EOFError:
                return
            finally:
                self.taken = b"".join(self._raw)
                self._raw.clear()
            yield frame, self.taken

    def _read(self, size: int) -> bytes:
        piece: bytes = self._stream.read1(size) if size else b""
        if size and not piece:
            raise EOFError
        self._raw.append(piece)
        return piece


class Messages:
    """Joins fragments once, at their message's end."""

    def __init__(self) -> None:
        self._opcode = TEXT
        self._parts: list[bytes] = []

    def add(self, frame: Any) -> Optional[Message]:
        if frame.opcode >= CLOSE:  # may come between fragments
            return frame.opcode, bytes(frame.data)
        if frame.opcode != websocket.ABNF.OPCODE_CONT:
            self._opcode, self._parts = frame.opcode, []
        self._parts.append(frame.data)
        if not frame.fin:
            return None
        whole, self._parts = b"".join(self._parts), []
        return self._opcode, whole


def close_of(content: bytes) -> tuple[int, str]:
    """The code and the reason in a close frame."""
    if len(content) < 2:
        return NO_CODE, ""
    return int.from_bytes(content[:2], "big"), content[2:].decode("utf-8", "replace")


def closing(code: int, reason: str = "") -> bytes:
    """What a close frame holds."""
    if code in (NO_CODE, BROKEN):
        return b""
    return code.to_bytes(2, "big") + reason.encode("utf-8", "replace")[:123]


def of_server(opcode: int, content: bytes) -> bytes:
    """A frame as a server sends it: without a mask."""
    frame = websocket.ABNF.create_frame(content, opcode)
    frame.mask = 0
    return bytes(frame.format())


def stream_of(connection: Any) -> IO[bytes]:
    stream: IO[bytes] = connection.makefile("rb")
    return stream
