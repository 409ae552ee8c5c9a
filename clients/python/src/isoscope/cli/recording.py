"""A command run under `isoscope run --keep`, so that its profile can be read when it has ended.

    with Recording(["sort", "big.txt"]) as recording:
        recording.wait()                # for its end; Ctrl-C is the command's
        ... Client(recording.uri) ...
    recording.status                    # the command's

Ownership  The with block ends the service, and the command if it still runs.
Signals    SIGTERM and SIGHUP raise SystemExit inside the with block. Killed outright, we take the
           service with us; the command runs on without it.
Errors     NotStarted: isoscope run said why, on stderr.
"""

from __future__ import annotations

import ctypes
import json
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from types import FrameType, TracebackType
from typing import IO, Any, Optional, Sequence

from ..command import isoscope
from .exits import NotStarted

_PR_SET_PDEATHSIG = 1  # of <linux/prctl.h>
_LOOK_S = 0.02
_PATIENCE_S = 5.0
_DYING_S = 1.0
_SERVICE_NAME = "isoscope-serve\n"
_CHILDREN_FAULTS = 8  # place in /proc/PID/stat after the name: cminflt of proc(5)


class Recording:
    def __init__(
        self,
        command: Sequence[str],
        options: Sequence[str] = (),
        output: Optional[IO[bytes]] = None,
    ) -> None:
        """options: more of `isoscope run`. output: gets what the command writes, which then has no
        standard input; else it has ours of both."""
        self.uri = ""
        self.status = 0
        self._words = [isoscope(), "run", "--quiet", "--keep", *options]
        self._command = list(command)
        self._streams: dict[str, Any] = {}
        if output is not None:
            self._streams = {"stdin": subprocess.DEVNULL, "stdout": output, "stderr": output}

    def __enter__(self) -> Recording:
        self._folder = tempfile.mkdtemp(prefix="isoscope-")
        info = Path(self._folder) / "service.json"
        words = [*self._words, "--write-service-info", str(info), "--", *self._command]
        # A Ctrl-C at the terminal is for the command: we want to tell what it did until then.
        self._interrupt: Any = signal.signal(signal.SIGINT, signal.SIG_IGN)
        self._before = {
            number: signal.signal(number, _leave)
            for number in (signal.SIGTERM, signal.SIGHUP)
            if signal.getsignal(number) != signal.SIG_IGN
        }
        self._libc = ctypes.CDLL(None)
        try:
            self._run = subprocess.Popen(
                words, preexec_fn=self._prepare_child, **self._streams
            )
            while not info.exists():
                self._check_started()
                time.sleep(_LOOK_S)
            self.uri = json.loads(info.read_text())["uri"]
        except BaseException:
            self._tidy()
            raise
        return self

    def _check_started(self) -> None:
        status = self._run.poll()
        if status is not None and not (Path(self._folder) / "service.json").exists():
            raise NotStarted(_shell_status(status))

    def wait(self) -> None:
        """Until the command has ended; its service has not."""
        while self._run.poll() is None and not _has_reaped(self._run.pid):
            time.sleep(_LOOK_S)
        signal.signal(signal.SIGINT, self._interrupt)

    @property
    def over(self) -> bool:
        return self._run.poll() is not None or _has_reaped(self._run.pid)

    def has_failed(self) -> bool:
        """The service, which is ours and should serve until we leave, has ended. It is asked for when the
        service's socket was closed: a process that is killed closes that before it is seen to have ended."""
        deadline = time.monotonic() + _DYING_S
        while self._serves():
            if time.monotonic() > deadline:
                return False
            time.sleep(_LOOK_S)
        return True

    def _serves(self) -> bool:
        try:
            children = Path(f"/proc/{self._run.pid}/task/{self._run.pid}/children").read_text()
        except OSError:
            return False
        return any(_is_service(child) for child in children.split())

    def __exit__(
        self,
        exc_type: Optional[type[BaseException]],
        exc: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        for number in self._before:  # a terminal that goes sends more than one
            signal.signal(number, signal.SIG_IGN)
        deadline = time.monotonic() + _PATIENCE_S
        try:
            # While the command runs a signal is the command's; after that it ends the service.
            while self._run.poll() is None and time.monotonic() < deadline:
                self._run.terminate()
                try:
                    self._run.wait(0.5)
                except subprocess.TimeoutExpired:
                    continue
            if self._run.poll() is None:
                self._run.kill()
            self.status = _shell_status(self._run.wait())
        finally:
            self._tidy()

    def _prepare_child(self) -> None:
        """What was ignored when we were started (nohup, a shell's background) stays so."""
        self._libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        ignored = self._interrupt == signal.SIG_IGN
        signal.signal(signal.SIGINT, signal.SIG_IGN if ignored else signal.SIG_DFL)

    def _tidy(self) -> None:
        signal.signal(signal.SIGINT, self._interrupt)
        for number, act in self._before.items():
            signal.signal(number, act)
        shutil.rmtree(self._folder, ignore_errors=True)


def _leave(number: int, frame: Optional[FrameType]) -> None:
    raise SystemExit(128 + number)


def _has_reaped(pid: int) -> bool:
    """Has the process waited for a child, and has no other program? The kernel adds a child's page faults
    to its parent's when it is waited for, and no program starts without any. Without this a
    command that lives shorter than we sleep would look like one that is still to come."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return True
    return int(stat[_CHILDREN_FAULTS]) > 0 and all(_is_service(child) for child in children)


def _is_service(pid: str) -> bool:
    """isoscope run's own other child, which serves."""
    try:
        return Path(f"/proc/{pid}/comm").read_text() == _SERVICE_NAME
    except OSError:
        return False


def _shell_status(status: int) -> int:
    return 128 - status if status < 0 else status

