"""`isoscope transcript` and `replay --server` as tests need them."""

from __future__ import annotations

import json
import subprocess
from contextlib import contextmanager

from harness import DEADLINE_S, ISOSCOPE, until


def isoscope(*words, **popen):
    return subprocess.run([ISOSCOPE, *words], capture_output=True, text=True, timeout=DEADLINE_S, **popen)


@contextmanager
def standing_in(folder, *words):
    """`isoscope transcript` or `replay --server`: yields the process and its URI, and ends it."""
    info = folder / f"info-{len(list(folder.iterdir()))}.json"
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = subprocess.Popen([ISOSCOPE, *words, "--write-service-info", str(info)], text=True, **pipes)
    try:
        until(lambda: info.exists() or process.poll() is not None, "the service info")
        assert process.poll() is None, process.stderr.read()
        uri = json.loads(info.read_text())["uri"]
        assert process.stdout.readline() == f"The Dart VM service is listening on {uri}\n"
        yield process, uri
    finally:
        process.terminate()
        process.communicate(timeout=DEADLINE_S)


@contextmanager
def recorded(service, folder, name="t.jsonl"):
    with standing_in(folder, "transcript", "--uri", service.uri, "-o", str(folder / name)) as (process, uri):
        yield uri
    assert process.returncode == 0
