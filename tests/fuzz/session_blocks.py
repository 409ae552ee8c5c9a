"""A session file as session_fuzz takes it apart: what its blocks hold, without packing and checksums.

    session_blocks.py FILE.isoscope OUT
"""

from __future__ import annotations

import json
import struct
import sys
from pathlib import Path
from typing import Iterator

import zstandard


def contents(session: bytes) -> Iterator[tuple[bytes, bytes]]:
    tables = zstandard.ZstdDecompressor().decompressobj()
    chunk, at = tables, 16
    while at < len(session):
        kind, stored, _unpacked, _crc, _head_crc = struct.unpack_from("<4sIIII", session, at)
        packed = session[at + 20:at + 20 + stored]
        at += 20 + stored
        if kind == b"SMPL":
            yield kind, chunk.decompress(packed)
        elif kind in (b"SRCE", b"EVTS", b"EVNT", b"STLS", b"LOOP", b"NEXT"):  # NEXT: what tests call a type that nobody knows
            yield kind, zstandard.ZstdDecompressor().decompressobj().decompress(packed)
        else:
            content = tables.decompress(packed)
            if kind == b"PIEC" and json.loads(content)["begins"]:
                chunk = zstandard.ZstdDecompressor().decompressobj()
            yield kind, content


if __name__ == "__main__":
    recipe = b"".join(kind + struct.pack("<H", len(content)) + content
                      for kind, content in contents(Path(sys.argv[1]).read_bytes()))
    Path(sys.argv[2]).write_bytes(recipe)
