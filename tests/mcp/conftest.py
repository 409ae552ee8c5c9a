"""Services and sessions that assistants ask about: programs whose profile is known."""

from __future__ import annotations

import json
import subprocess
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Iterator

import assistant  # noqa: F401  tests/live is importable from here on
import pytest
from harness import DEADLINE_S, ISOSCOPE, profiled, record, workload


def told(*words: str) -> Any:
    """What a command prints as JSON."""
    done = subprocess.run([ISOSCOPE, *words], capture_output=True, text=True, timeout=DEADLINE_S, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def recorded(file: Path, *command: str, options: tuple[str, ...] = ()) -> Path:
    done = record(file, command, "--quiet", *options)
    assert done.returncode == 0, done.stderr
    return file


def write_info(file: Path, uri: str) -> None:
    file.write_text(json.dumps({"uri": uri}))


@contextmanager
def service_in(folder: Path, command: list[str], *options: str, info: str = "here.json") -> Iterator[str]:
    """Of a program that has ended; the folder has its info file."""
    with profiled(command, *options) as service:
        write_info(folder / info, service.uri)
        yield service.uri


@pytest.fixture(scope="module")
def hot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one session: four fifths of the time are in score_rows."""
    folder = tmp_path_factory.mktemp("hot")
    recorded(folder / "hot.isoscope", workload("planted"), "hot", "1")
    return folder
