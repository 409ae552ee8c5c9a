"""`isoscope run --capture-output`: the program's output goes where it went, and to the clients."""

from __future__ import annotations

import base64
import os
import subprocess
import sys
import threading

import pytest
from harness import ISOSCOPE, NO_PERF_NOTICE, children, until

CAPTURE = ("--quiet", "--capture-output")


def written(client, stream: str) -> bytes:
    history = client.rpc("getStreamHistory", stream=stream)["history"]
    return b"".join(base64.b64decode(event["bytes"]) for event in history)


def test_both_streams_arrive_byte_for_byte(run):
    text = b"".join(b"%7d\n" % number for number in range(100_000))
    # Buffered writers go on after a short write, which a tick can cause in any pipe.
    program = """
text = b"".join(b"%7d\\n" % number for number in range(100_000))
with open(1, "wb") as out, open(2, "wb") as err:
    out.write(text)
    err.write(text[::-1])
"""
    result = run([sys.executable, "-c", program], *CAPTURE, text=False)
    assert result.stdout == text
    # What isoscope itself says stands behind it.
    assert result.stderr.startswith(text[::-1])


@pytest.mark.parametrize("status", [0, 7])
def test_the_exit_status_stays_the_programs(run, status):
    assert run(["sh", "-c", f"echo out; exit {status}"], *CAPTURE).returncode == status


def test_clients_read_what_was_written(start):
    running = start(["sh", "-c", "echo out; echo err >&2; cat"], "--keep", *CAPTURE)
    assert running.line() == "out"
    client = running.connect()
    until(lambda: written(client, "Stdout") == b"out\n", "the first line")
    until(lambda: written(client, "Stderr") == b"err\n", "the complaint")
    client.rpc("streamListen", streamId="Stdout")
    running.process.stdin.write("more\n")
    running.process.stdin.close()
    assert running.line() == "more"
    until(lambda: written(client, "Stdout") == b"out\nmore\n", "the second line")


def test_nothing_is_read_without_the_option(start):
    running = start(["sh", "-c", "echo out; cat"], "--quiet")
    assert running.line() == "out"
    client = running.connect()
    assert written(client, "Stdout") == b""
    running.process.stdin.close()


def test_a_program_whose_reader_has_gone_dies_of_it():
    words = [ISOSCOPE, "run", *CAPTURE, "--", "yes"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout.readline() == b"y\n"
        process.stdout.close()
        assert process.wait(timeout=30) != 0


def test_what_a_program_left_behind_does_not_hold_the_end_up(run):
    result = run(["sh", "-c", "sleep 100 & echo $!"], *CAPTURE)
    os.kill(int(result.stdout), 9)
    assert result.returncode == 0


def test_a_terminal_stays_a_terminal():
    ours, theirs = os.openpty()
    program = (
        "import os; size = os.get_terminal_size(1);"
        "print(os.isatty(1), os.isatty(2), os.isatty(0), size.columns)"
    )
    os.set_blocking(ours, True)
    subprocess.run(["stty", "cols", "77", "rows", "20"], stdin=theirs, check=True)
    words = [ISOSCOPE, "run", *CAPTURE, "--", sys.executable, "-c", program]
    process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs)
    os.close(theirs)
    assert process.wait(timeout=60) == 0
    lines = os.read(ours, 1000).splitlines()
    # Where perf is refused, isoscope says so.
    assert [line for line in lines if NO_PERF_NOTICE.encode() not in line] == [b"True True False 77"]
    os.close(ours)


def test_a_client_that_does_not_read_delays_nothing(start):
    """It listens, and then never reads: the program's megabytes come all the same."""
    lines = 400_000
    running = start(["sh", "-c", f"read go; seq {lines}"], *CAPTURE)
    client = running.connect()
    client.rpc("streamListen", streamId="Stdout")
    running.process.stdin.write("go\n")
    running.process.stdin.close()
    reader: list[str] = []
    thread = threading.Thread(target=lambda: reader.extend(running.process.stdout))
    thread.start()
    thread.join(timeout=60)
    assert [reader[0], reader[-1], len(reader)] == ["1\n", f"{lines}\n", lines]
    until(lambda: not children(running.process.pid), "the program's end")
