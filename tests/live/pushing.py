"""Runs whose profiles are pushed."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from harness import ISOSCOPE, workload

SPIN = workload("spin_two_to_one")


def words(engine_url: str, queue: Path, *more: str) -> list[str]:
    return ["--push", engine_url, "--push-window", "1", "--push-queue", str(queue), *more]


def pushed(engine_url: str, queue: Path, *more: str, command=(SPIN, "1.5")) -> subprocess.CompletedProcess:
    """A whole run."""
    return subprocess.run([ISOSCOPE, "run", "--quiet", *words(engine_url, queue, *more), "--", *command],
                          capture_output=True, text=True, timeout=120)


def waiting(queue: Path) -> list[str]:
    return sorted(path.name for path in queue.glob("*/*.profile"))


def build_of(path: str) -> str:
    notes = subprocess.run(["readelf", "-n", path], check=True, capture_output=True, text=True).stdout
    return re.search(r"Build ID: ([0-9a-f]+)", notes)[1]
