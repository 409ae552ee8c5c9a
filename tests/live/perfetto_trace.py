"""A Perfetto trace as protoc reads it."""

from __future__ import annotations

import base64
from pathlib import Path

import protobuf_text

PROTO = Path(__file__).with_name("perfetto.proto")


def decoded(trace: str) -> list[dict]:
    """The packets; each message is a dict of lists."""
    return protobuf_text.decoded(base64.b64decode(trace, validate=True), PROTO, "Trace")["packet"]
