"""A program in a terminal of its own: tmux, with a server of its own.

    with Terminal(tmp_path, "isoscope top URI", 80, 24) as terminal:
        terminal.wait_for("thread_spin")
        terminal.press("q")
"""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess

import pytest
from harness import until

_numbers = itertools.count()


class Terminal:
    def __init__(self, folder, command: str, columns=80, lines=24, **env: str) -> None:
        tmux = shutil.which("tmux") or pytest.skip("needs tmux")
        # Not the socket of one before: its server may not be through with ending.
        socket = str(folder / f"tmux-{next(_numbers)}")
        self._tmux = [tmux, "-S", socket, "-f", "/dev/null"]
        self._start = ["new-session", "-d", "-x", str(columns), "-y", str(lines),
                       f"{command}; echo ended with $?; exec cat"]  # fmt: skip
        self._env = {k: v for k, v in os.environ.items() if k not in ("TMUX", "NO_COLOR")}
        self._env.update({"LC_ALL": "C.UTF-8", **env})

    def __enter__(self) -> Terminal:
        self._run(*self._start)
        return self

    def __exit__(self, *exc) -> None:
        self._run("kill-server")

    def _run(self, *words: str) -> str:
        done = subprocess.run(
            [*self._tmux, *words], capture_output=True, text=True, timeout=30, env=self._env
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def text(self, *, looks: bool = False) -> str:
        """What stands on the screen. looks: with its escape sequences."""
        return self._run("capture-pane", "-p", *(["-e"] if looks else []))

    def wait_for(self, *words: str) -> str:
        """The screen, as soon as it has all of them."""
        last = ""

        def there() -> str:
            nonlocal last
            last = self.text()
            return last if all(word in last for word in words) else ""

        try:
            return until(there, f"{words} on the screen")
        except AssertionError as error:
            raise AssertionError(f"{error}; there is:\n{last}") from None

    def pid(self) -> str:
        """Of the shell in it."""
        return self._run("display-message", "-p", "#{pane_pid}").strip()

    def resize(self, columns: int, lines: int) -> None:
        self._run("resize-window", "-x", str(columns), "-y", str(lines))

    def press(self, *keys: str) -> None:
        self._run("send-keys", *keys)
