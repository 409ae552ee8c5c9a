"""A process that runs already, under `isoscope attach`, for as long as this command lives.

    uri = attached.begin(4711, ["--period", "500"])    # its service answers
    attached.wait(5_000_000)                           # sample for so long, or until it ends

Ownership  The service ends with this command: by SIGTERM, or by its own when this one is killed.
Errors     NotStarted: isoscope attach said why, on stderr.
"""

from __future__ import annotations

import atexit
import ctypes
import json
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Sequence

from ..command import isoscope
from .exits import NotStarted

DEFAULT_US = 5_000_000
_PR_SET_PDEATHSIG = 1  # of <linux/prctl.h>
_LOOK_S = 0.02


def begin(pid: int, options: Sequence[str]) -> str:
    """options: more of `isoscope attach`. Returns the service's URI."""
    libc = ctypes.CDLL(None)
    folder = tempfile.mkdtemp(prefix="isoscope-")
    info = Path(folder) / "service.json"
    words = [isoscope(), "attach", "--quiet", "--keep", *options, "--write-service-info", str(info), str(pid)]
    process = subprocess.Popen(
        words,
        stdin=subprocess.DEVNULL,
        start_new_session=True,  # a Ctrl-C is for us: what was sampled until then is shown
        preexec_fn=lambda: libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM),
    )
    atexit.register(_end, process, folder)
    while not info.exists():
        if (status := process.poll()) is not None and not info.exists():
            raise NotStarted(status, "attach")
        time.sleep(_LOOK_S)
    return str(json.loads(info.read_text())["uri"])


def wait(pid: int, time_us: int) -> None:
    """Ctrl-C ends it early."""
    deadline = time.monotonic() + time_us / 1e6
    try:
        while time.monotonic() < deadline and _lives(pid):
            time.sleep(_LOOK_S)
    except KeyboardInterrupt:
        pass


def _lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def _end(process: subprocess.Popen[bytes], folder: str) -> None:
    process.terminate()
    process.wait()
    shutil.rmtree(folder, ignore_errors=True)
