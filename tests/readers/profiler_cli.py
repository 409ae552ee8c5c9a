"""@firefox-devtools/profiler-cli on a file: what it finds in each thread.

    with ProfilerCli(folder_of_npm, scratch) as cli:
        cli.load(path)
        for thread in cli.threads(): cli.functions(thread)

It keeps a daemon per file, in `scratch`, which is told to stop.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path
from typing import Any

DEADLINE_S = 60


class ProfilerCli:
    def __init__(self, npm: Path, scratch: Path) -> None:
        self._binary = str(npm / "node_modules" / ".bin" / "profiler-cli")
        self._environment = {**os.environ, "HOME": str(scratch)}
        scratch.mkdir(exist_ok=True)

    def __enter__(self) -> ProfilerCli:
        return self

    def __exit__(self, *_: object) -> None:
        self._run("stop", "--all")

    def _run(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([self._binary, *words], capture_output=True, text=True,
                              timeout=DEADLINE_S, env=self._environment)  # fmt: skip

    def _json(self, *words: str) -> Any:
        done = self._run(*words, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def load(self, path: Path) -> None:
        """Its own wait for the daemon is half a second: too short on a busy machine."""
        self._run("stop", "--all")
        said = self._run("load", str(path))
        deadline = time.monotonic() + DEADLINE_S
        while self._run("status").returncode != 0:
            assert time.monotonic() < deadline, f"profiler-cli does not load {path}: {said.stderr}"
            time.sleep(0.2)

    def threads(self) -> list[dict[str, Any]]:
        threads: list[dict[str, Any]] = self._json("thread", "list")["threads"]
        return sorted(threads, key=lambda thread: thread["threadIndex"])

    def functions(self, thread: dict[str, Any]) -> dict[str, tuple[float, float]]:
        """Self and total samples of each name; two functions of one name are added up."""
        rows: dict[str, tuple[float, float]] = {}
        words = ("--limit", "0", "--include-idle", "--thread", thread["threadHandle"])
        for row in self._json("thread", "functions", *words)["functions"]:
            name = row["name"].removesuffix(" (in [unknown])")  # of perf's text
            own, total = rows.get(name, (0, 0))
            rows[name] = own + row["selfSamples"], total + row["totalSamples"]
        return rows

    def markers(self, thread: dict[str, Any]) -> str:
        return self._run("thread", "markers", "--thread", thread["threadHandle"]).stdout
