"""What a browser's page and a real Dart VM's clients said, replayed to a service of ours."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "live")]

from browser import Browser  # noqa: E402
from harness import DEADLINE_S, ISOSCOPE, profiled, until, workload  # noqa: E402
from isoscope.transcripts.transcript import Transcript  # noqa: E402

DART_VM = HERE / "dart_vm.jsonl"  # made by derive_transcript.py
UNANSWERED = ("nothing in ", "the connection's end", "error -32601 ")


def replayed(path, service, *words):
    done = subprocess.run([ISOSCOPE, "replay", str(path), "--uri", service.uri, "--json", *words],
                          capture_output=True, text=True, timeout=DEADLINE_S)  # fmt: skip
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


@pytest.fixture(scope="module")
def service():
    with profiled([workload("spin_two_to_one"), "0.3"]) as service:
        service.tree()  # all names are known: the event that says so comes once
        yield service


def test_what_a_real_vm_was_asked_is_answered_here(service):
    """Each method is known, no connection breaks; where answers differ, it is in what they hold."""
    requests = [entry for entry in Transcript.read(str(DART_VM)).entries if entry.is_request]
    status, told = replayed(DART_VM, service)
    assert status in (0, 1) and "problem" not in told
    assert told["sent"] == told["compared"] == len(requests) > 200
    assert not [found for found in told["differences"] if found["got"].startswith(UNANSWERED)]
    same = len(requests) - len({found["line"] for found in told["differences"]})
    assert same > 100


@contextmanager
def standing_in(folder, *words):
    """`isoscope transcript` or `replay --server`: yields its URI, and ends it; status 0."""
    info = folder / f"{words[0]}.json"
    words = [ISOSCOPE, *words, "--write-service-info", str(info)]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL) as process:
        try:
            until(lambda: info.exists() or process.poll() is not None, "its start")
            yield json.loads(info.read_text())["uri"]
        finally:
            process.terminate()
    assert process.returncode == 0 or words[1] == "replay"  # which may be asked one time more


def look_at_the_page(chromium, uri):
    with Browser(chromium) as browser:
        browser.open(uri)
        browser.until("document.body.innerText.includes('spin_two_to_one')", "the profile")
        browser.until("document.body.innerText.includes('· connected')", "the connection")
        assert not [line for line in browser.console if "rror" in line]


def test_the_page_is_recorded_replayed_and_satisfied_by_a_player(service, tmp_path):
    chromium = shutil.which("chromium") or pytest.skip("needs chromium")
    out = tmp_path / "t.jsonl"
    with standing_in(tmp_path, "transcript", "--uri", service.uri, "-o", str(out)) as uri:
        look_at_the_page(chromium, uri)
    entries = Transcript.read(str(out)).entries
    assert {"_getCpuSamples", "getVM"} <= {entry.message.get("method") for entry in entries}
    assert any(entry.kind == "http" and entry.msg.get("path", "").endswith("app.js") for entry in entries)
    status, told = replayed(out, service)
    assert (status, told["differences"]) == (0, [])
    with standing_in(tmp_path, "replay", "--server", str(out)) as uri:
        look_at_the_page(chromium, uri)
