"""A committed session gives the bytes that are committed beside it, from run to run and machine to machine.

    python3 tests/live/test_golden.py    after a change of the wire: writes tests/sessions/small.jsonl anew
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from asking import CHANGES, METHODS, Asking
from harness import DEADLINE_S, ISOSCOPE, ROOT, serving
from transcribing import recorded

SESSION = ROOT / "tests" / "sessions" / "small.isoscope"
GOLDEN = SESSION.with_suffix(".jsonl")
# The schemas themselves have a test of their own, and zstd of another version packs otherwise. In a session no
# process runs.
LEFT_OUT = frozenset({"rpc.discover", "_getSession", "_getProcessList"})


def replay(path: Path) -> subprocess.CompletedProcess:
    with serving(SESSION) as service:
        words = [ISOSCOPE, "replay", str(path), "--uri", service.uri, "--compare", "bytes"]
        return subprocess.run(words, capture_output=True, text=True, timeout=DEADLINE_S)


def sent(path: Path) -> list[dict]:
    lines = map(json.loads, path.read_text().splitlines())
    return [one["msg"] for one in lines if one["dir"] == "send" and one["kind"] == "text"]


def test_the_session_gives_the_bytes_that_are_committed():
    done = replay(GOLDEN)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout


def test_each_method_that_reads_is_among_them():
    assert {one["method"] for one in sent(GOLDEN)} >= set(METHODS) - CHANGES - LEFT_OUT


def test_a_reply_that_is_another_is_reported_with_its_path(tmp_path):
    broken = tmp_path / "broken.jsonl"
    broken.write_text(GOLDEN.read_text().replace("walk", "wall"))
    done = replay(broken)
    assert done.returncode == 1
    assert '.name: expected "wall", got "walk"' in done.stdout


def write() -> None:
    with tempfile.TemporaryDirectory() as folder, serving(SESSION) as service:
        with recorded(service, Path(folder)) as uri:
            Asking(uri).all(LEFT_OUT)
        GOLDEN.write_bytes((Path(folder) / "t.jsonl").read_bytes())


if __name__ == "__main__":
    sys.exit(write())
