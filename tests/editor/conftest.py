"""A C++ project, sessions of it, and programs of it that run under isoscope."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Iterator

import project
import pytest
from lsp_client import ISOSCOPE, until


class Service:
    """`isoscope run --keep` on a program of the project."""

    def __init__(self, folder: Path, program: Path, *args: str, info: str = "here.json", options: tuple[str, ...] = ()) -> None:
        self.info = folder / info
        words = [ISOSCOPE, "run", "--quiet", "--keep", "--write-service-info", str(self.info), *options]
        self.process = subprocess.Popen([*words, "--", str(program), *args], cwd=folder, stdout=subprocess.DEVNULL)
        until(self.info.exists, "the info file")
        self.uri = str(json.loads(self.info.read_text())["uri"])

    def end(self) -> None:
        """A signal is the program's while it runs, and then isoscope's."""
        until(self._ended, "the service's end")

    def _ended(self) -> bool:
        self.process.terminate()
        try:
            self.process.wait(0.5)
        except subprocess.TimeoutExpired:
            return False
        return True


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The project's, with its program built."""
    here = tmp_path.resolve() / "project"
    here.mkdir()
    project.build(here)
    return here


@pytest.fixture
def services(folder: Path) -> Iterator[list[Service]]:
    """Those that a test adds are ended behind it."""
    started: list[Service] = []
    yield started
    for one in started:
        one.end()


def recorded(folder: Path, *args: str, name: str = "run.isoscope", program: str = "hot") -> Path:
    session = folder / name
    subprocess.run([ISOSCOPE, "record", "-o", session, "--", folder / program, *args], check=True, capture_output=True)
    return session
