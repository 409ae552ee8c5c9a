"""A Perfetto trace as protoc reads it."""

from __future__ import annotations

import ast
import base64
import re
import subprocess
from pathlib import Path

PROTO = Path(__file__).with_name("perfetto.proto")


def value_of(text: str):
    """A number, or bytes as protoc escapes them, which are UTF-8."""
    return ast.literal_eval(f"b{text}").decode() if text[0] == '"' else ast.literal_eval(text)


def decoded(trace: str) -> list[dict]:
    """The packets; each message is a dict of lists."""
    text = subprocess.run(
        ["protoc", f"--proto_path={PROTO.parent}", "--decode=Trace", PROTO.name],
        input=base64.b64decode(trace, validate=True),
        check=True,
        capture_output=True,
    ).stdout.decode()
    top: dict = {}
    open_messages = [top]
    for line in text.splitlines():
        line = line.strip()
        if line == "}":
            open_messages.pop()
        elif match := re.fullmatch(r"(\w+) \{", line):
            message: dict = {}
            open_messages[-1].setdefault(match[1], []).append(message)
            open_messages.append(message)
        else:
            name, _, value = line.partition(": ")
            # A field that our .proto does not know is a number there, and fails here.
            assert re.fullmatch("[a-z_]+", name), line
            open_messages[-1].setdefault(name, []).append(value_of(value))
    return top["packet"]
