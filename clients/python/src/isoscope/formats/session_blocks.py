"""The blocks of a session file (docs/session_format.md), checked and unpacked.

Errors   BadFile, with where in the file it is.
"""

from __future__ import annotations

import struct
import zlib
from typing import Any, Iterator, NamedTuple, cast

from ..errors import BadFile

MAGIC, VERSION, HEAD_SIZE = b"\x89ISO\r\n\x1a\n", 1, 16
BLOCK = struct.Struct("<4sIIII")  # type, stored, unpacked; checksums of the content, and of the 16 bytes before
_MOST = 1 << 24


class Block(NamedTuple):
    kind: str
    at: int  # of its head, in the file
    stored: memoryview
    unpacked: int  # bytes


def wrong(at: int, what: str) -> BadFile:
    return BadFile(f"session file, at byte {at:,}: {what}")


def blocks(content: bytes) -> Iterator[Block]:
    """Without an incomplete last one: the file ends in it, or goes on with nothing but zeros."""
    if len(content) < HEAD_SIZE:
        raise wrong(len(content), "it ends within its head")
    version = int.from_bytes(content[8:12], "little")
    if not 0 < version <= VERSION:
        raise wrong(8, f"version {version}; this isoscope reads version {VERSION}: a newer one reads it")
    at, view = HEAD_SIZE, memoryview(content)
    while at + BLOCK.size <= len(content):
        kind, stored, unpacked, checksum, of_head = BLOCK.unpack_from(content, at)
        begin, end = at + BLOCK.size, at + BLOCK.size + stored
        if zlib.crc32(view[at : at + 16]) != of_head:
            if not any(view[at:]):
                return
            raise wrong(at, "the checksum of a block's head is wrong")
        name = kind.decode("ascii", "replace")
        if max(stored, unpacked) > _MOST:
            raise wrong(at, f"block '{name}' is too large")
        if end > len(content):
            return
        if zlib.crc32(view[begin:end]) != checksum:
            raise wrong(at, f"the checksum of block '{name}' is wrong")
        yield Block(name, at, view[begin:end], unpacked)
        at = end


class Unpacker:
    """A zstd frame that goes on from block to block."""

    def __init__(self) -> None:
        try:
            import zstandard
        except ImportError as error:
            raise BadFile(
                "session files are packed with zstd: install Debian's python3-zstandard, or `zstandard` with pip"
            ) from error
        self._error: Any = zstandard.ZstdError
        self._sink = _Sink()
        # What does not fit stays with it until there is more to read: all of a block has to.
        frames = zstandard.ZstdDecompressor(max_window_size=_MOST)
        self._frame = frames.stream_writer(cast(Any, self._sink), write_size=_MOST + 1)

    def read(self, block: Block) -> bytes:
        sink = self._sink
        sink.parts, sink.left = [], block.unpacked
        try:
            self._frame.write(block.stored)
        except self._error as error:
            raise wrong(block.at, f"block '{block.kind}' cannot be unpacked: {error}") from error
        except OverflowError:
            pass
        if sink.left:
            raise wrong(block.at, f"block '{block.kind}' is not {block.unpacked:,} bytes, as it says")
        return b"".join(sink.parts)


class _Sink:
    """Takes as much as is left."""

    parts: list[bytes] = []
    left = 0

    def write(self, content: bytes) -> int:
        self.left -= len(content)
        if self.left < 0:
            raise OverflowError
        self.parts.append(bytes(content))
        return len(content)
