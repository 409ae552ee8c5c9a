"""A message of protocol buffers as protoc reads it."""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path


def value_of(text: str):
    """A number, or bytes as protoc escapes them, which are UTF-8 or an id."""
    return ast.literal_eval(f"b{text}").decode(errors="surrogateescape") if text[0] == '"' else ast.literal_eval(text)


def decoded(content: bytes, proto: Path, message: str) -> dict[str, list]:
    """Each message is a dict of lists."""
    text = subprocess.run(
        ["protoc", f"--proto_path={proto.parent}", f"--decode={message}", proto.name],
        input=content,
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
            inner: dict = {}
            open_messages[-1].setdefault(match[1], []).append(inner)
            open_messages.append(inner)
        else:
            name, _, value = line.partition(": ")
            # A field that our .proto does not know is a number there, and fails here.
            assert re.fullmatch("[a-z_]+", name), line
            open_messages[-1].setdefault(name, []).append(
                value == "true" if value in ("true", "false") else value_of(value))
    return top
