"""A session file, served by `isoscope serve` for as long as a command reads it.

    with served("cpu.isoscope") as uri:
        ... Client(uri) ...

So what only a service tells is read from a file by the same words, and is read by one reader, the service's.

Ownership  The with block ends the service.
Errors     BadFile with what the service said of it.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import Iterator

from ..command import isoscope
from ..errors import BadFile
from ..formats import session

_LOOK_S = 0.02
_PATIENCE_S = 5.0
_NAME = "isoscope: "


def is_session(path: str) -> bool:
    """False: also where it cannot be read; whoever reads it as a profile says why."""
    try:
        with open(path, "rb") as file:
            return session.knows(file.read(session.HEAD_SIZE))
    except OSError:
        return False


@contextmanager
def served(path: str) -> Iterator[str]:
    """Its URI."""
    with tempfile.TemporaryDirectory(prefix="isoscope-") as folder:
        info = Path(folder) / "service.json"
        file = os.path.join(".", path) if path.startswith("-") else path
        words = [isoscope(), "serve", "--quiet", "--write-service-info", str(info), file]
        service = subprocess.Popen(words, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
        try:
            while not info.exists() and service.poll() is None:
                time.sleep(_LOOK_S)
            if not info.exists():
                raise BadFile(_said(service))
            yield json.loads(info.read_text())["uri"]
        finally:
            _end(service)


def _said(service: "subprocess.Popen[bytes]") -> str:
    assert service.stderr is not None
    lines = service.stderr.read().decode("utf-8", "replace").strip().splitlines() or ["isoscope serve failed"]
    return lines[0][len(_NAME) :] if lines[0].startswith(_NAME) else lines[0]


def _end(service: "subprocess.Popen[bytes]") -> None:
    if service.poll() is None:
        service.terminate()
    try:
        service.wait(_PATIENCE_S)
    except subprocess.TimeoutExpired:
        service.kill()
        service.wait()
    if service.stderr is not None:
        service.stderr.close()
