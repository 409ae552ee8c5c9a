"""`./dev run`: what a newcomer sees first. What it installs and builds is tests/dev's, and the bare machine's."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import subprocess
import time
import urllib.request
from pathlib import Path

import pytest
from harness import BUILD, end

ROOT = Path(__file__).resolve().parents[2]
DEADLINE_S = 120.0
# As ./dev has it, but with what is built already, wherever that is.
SCRIPT = """
set -euo pipefail
root=$1
for part in say run; do source "$0/scripts/$part.sh"; done
build_command() { :; }
shift
run "$@"
"""


@pytest.fixture
def command(tmp_path: Path) -> list[str]:
    (tmp_path / "build").symlink_to(BUILD)
    for folder in "sampler protocol server schemas clients examples tests".split():
        (tmp_path / folder).symlink_to(ROOT / folder)
    return ["/bin/bash", "-c", SCRIPT, str(ROOT), str(tmp_path)]


class Terminal:
    """What the command writes when it is somebody's foreground job."""

    def __init__(self, command: list[str]) -> None:
        self.text = ""
        self.terminal, other = pty.openpty()
        self.process = subprocess.Popen(command, stdin=other, stdout=other, stderr=other,
                                        start_new_session=True)  # fmt: skip
        os.close(other)

    def read_until(self, pattern: str) -> re.Match[str]:
        deadline = time.monotonic() + DEADLINE_S
        while not (found := re.search(pattern, self.text, re.MULTILINE)):
            ready = select.select([self.terminal], [], [], max(0.0, deadline - time.monotonic()))[0]
            assert ready, f"no {pattern} in:\n{self.text}"
            self.text += os.read(self.terminal, 65536).decode(errors="replace").replace("\r\n", "\n")
        return found

    def close(self) -> None:
        end(self.process)
        os.close(self.terminal)


def test_in_a_terminal_the_last_line_is_the_pages_address_and_the_page_is_there(command):
    terminal = Terminal(command)
    try:
        uri = terminal.read_until(r"^Open (http://\S+) in a browser\n")[1]
        assert terminal.text.endswith("in a browser\n")
        request = urllib.request.Request(uri, headers={"Accept": "text/html", "Accept-Encoding": "gzip"})
        with urllib.request.urlopen(request, timeout=30) as response:
            assert response.headers["Content-Type"].startswith("text/html")
        os.killpg(terminal.process.pid, signal.SIGINT)
        terminal.process.wait(DEADLINE_S)
    finally:
        terminal.close()


def test_the_first_screen_has_names_and_no_addresses(command):
    result = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE_S, check=True)
    rows = re.findall(r"^ *[0-9.]+ % +[0-9.]+ % +(.+)$", result.stdout, re.MULTILINE)
    assert len(rows) >= 10, result.stdout
    assert not [row for row in rows if "+0x" in row], result.stdout
    assert [row for row in rows if row.startswith("longest_match")]
    assert [row for row in rows if row.startswith("distance")], result.stdout
    assert "service stays up" in result.stdout.splitlines()[-1]


def test_a_program_of_ones_own_keeps_its_status(command):
    result = subprocess.run([*command, "/bin/sh", "-c", "exit 3"], capture_output=True, text=True,
                            timeout=DEADLINE_S)  # fmt: skip
    assert result.returncode == 3, result.stdout + result.stderr
