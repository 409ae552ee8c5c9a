"""Stalls at the command line: what fails a run, what is run for each, what is printed; of examples/loop.

A machine that is itself late is said to be, and its stalls do not count: what must be found is tried once more.
"""

from __future__ import annotations

import json
import subprocess

import pytest
from harness import BUILD, DEADLINE_S, ISOSCOPE, NO_PERF_NOTICE, measured

LOOP = str(BUILD / "examples" / "loop")
SLOW_MS = "900"  # three of its dispatches, in compress
TRIES = 6


def isoscope(*words: str, timeout_s: int = 4 * DEADLINE_S) -> subprocess.CompletedProcess[str]:
    done = subprocess.run([ISOSCOPE, *words], capture_output=True, text=True, timeout=timeout_s,
                          stdin=subprocess.DEVNULL)  # fmt: skip
    done.stderr = "".join(line for line in done.stderr.splitlines(keepends=True)
                          if not line.startswith(NO_PERF_NOTICE))  # fmt: skip
    return done


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """A session of the example."""
    file = tmp_path_factory.mktemp("stalls") / "loop.isoscope"
    done = isoscope("record", "--quiet", "-o", str(file), "--", LOOP, SLOW_MS)
    assert done.returncode == 0, done.stderr
    return str(file)


def failing(*words: str, status: int = 3) -> subprocess.CompletedProcess[str]:
    """Of a run with --fail-on-stall in which a stall counts: where the machine itself was late none does."""
    for _ in range(TRIES):
        done = isoscope(*words)
        if done.returncode == status and "(--fail-on-stall)" in done.stderr:
            return done
        assert "not counted by --fail-on-stall" in done.stderr, done
    pytest.skip("this machine is late all the time")


def listed(*words: str) -> list[dict]:
    done = isoscope("stalls", "--json", *words)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["stalls"]


# What fails a run.


def test_a_stall_of_that_length_fails_a_run_that_ended_well():
    done = failing("run", "--quiet", "--fail-on-stall", "400ms", "--", LOOP, SLOW_MS)
    (first, *_) = [line for line in done.stderr.splitlines() if "loop 'pages'" in line]
    assert "of thread 'writer' in loop (" in first
    assert "compress" in first
    assert "of 400 ms or longer (--fail-on-stall); the exit status is 3" in done.stderr
    assert done.stdout.startswith("60 pages")


def test_shorter_stalls_do_not():
    done = isoscope("run", "--quiet", "--fail-on-stall", "60m", "--", LOOP, SLOW_MS)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_programs_own_failure_wins():
    words = "--fail-on-stall", "400ms", "--", "sh", "-c", f"{LOOP} {SLOW_MS}; exit 5"
    done = failing("run", "--quiet", *words, status=5)
    assert "the exit status is the program's own" in done.stderr


def test_a_recording_fails_too_and_its_file_is_whole(tmp_path):
    file = str(tmp_path / "failed.isoscope")
    failing("record", "--quiet", "--fail-on-stall", "400ms", "-o", file, "--", LOOP, SLOW_MS)
    assert any(stall["name"] == "pages" for stall in listed(file))


def test_a_stall_shorter_than_a_look_cannot_be_asked_for():
    done = isoscope("run", "--stall-limit", "3ms", "--", "true")
    assert done.returncode == 2 and "--stall-limit: '3ms' is too short" in done.stderr


# What is run for each.


@measured
def test_a_command_is_run_at_the_begin_and_the_end_of_a_stall(tmp_path):
    file = tmp_path / "said"
    words = ("NUMBER", "LOOP", "THREAD", "CULPRIT", "LEVEL", "END")
    variables = "|".join(f"$ISOSCOPE_STALL_{word}" for word in words)
    command = f'echo "{variables}|$LD_PRELOAD|$ISOSCOPE_SOCKET|${{ISOSCOPE_URI%%:*}}" >> {file}; echo told'
    done = isoscope("run", "--quiet", "--on-stall", command, "--", LOOP, SLOW_MS)
    assert done.returncode == 0, done.stderr
    assert "told" in done.stderr and "told" not in done.stdout
    said = [line.split("|") for line in file.read_text().splitlines()]
    mine = [line for line in said if line[1] == "pages"]
    number = mine[0][0]
    ends = [line[5] for line in mine if line[0] == number]
    assert ends == ["", "1"], said
    (end,) = [line for line in mine if line[0] == number and line[5]]
    assert end[2:5] == ["writer", "compress", "stall"]
    assert all(line[6:] == ["", "", "http"] for line in said)


def test_a_command_that_hangs_is_killed_when_the_program_has_ended():
    done = isoscope("run", "--quiet", "--on-stall", "sleep 100000", "--", LOOP, SLOW_MS)
    assert done.returncode == 0
    assert done.stderr == "" or "killing it" in done.stderr  # "": the machine let no stall be seen


# What is printed.


@measured
def test_stalls_of_a_command_are_listed():
    done = isoscope("stalls", "--", LOOP, SLOW_MS)
    assert done.returncode == 0, done.stderr
    (row, *_) = [line.split() for line in done.stdout.splitlines() if "pages (writer)" in line]
    assert {"compress", "write_page"} & set(row)
    assert "so far" not in done.stdout  # the command has ended


def test_stalls_of_a_session_have_a_story_and_a_window_with_samples(recorded):
    stalls = [stall for stall in listed(recorded) if stall["name"] == "pages"]
    assert stalls, "no dispatch of 900 ms was found"
    stall = next(stall for stall in stalls if stall.get("culprit", {}).get("function") == "compress")
    done = isoscope("stalls", recorded, str(stall["number"]))
    assert done.returncode == 0 and "story" in done.stdout and "compress" in done.stdout
    command = done.stdout.splitlines()[-1].split()
    assert command[:2] == ["isoscope", "tree"] and command[-1] == recorded
    tree = isoscope(*command[1:])
    assert tree.returncode == 0 and "compress" in tree.stdout


def test_loops_of_a_session_are_listed(recorded):
    done = isoscope("stalls", "--loops", recorded)
    assert done.returncode == 0, done.stderr
    (row, *_) = [line.split() for line in done.stdout.splitlines() if "registered" in line]
    assert row[:3] == ["pages", "writer", "registered"] or "pages" in row[0]
    assert "60" in row


@pytest.mark.parametrize("form", ["trace", "firefox", "perfetto", "devtools-performance"])
def test_files_for_other_tools_have_the_stalls(recorded, form, tmp_path):
    file = tmp_path / "out"
    done = isoscope("export", form, "-o", str(file), recorded)
    assert done.returncode == 0, done.stderr
    content = file.read_bytes()
    if form == "devtools-performance":
        content = bytes(json.loads(content)["performance"]["traceBinary"])
    assert b"Stall" in content and b"culprit" in content and b"compress" in content


@measured
def test_follow_prints_stalls_as_they_come():
    done = isoscope("stalls", "--follow", "--", LOOP, SLOW_MS)
    assert done.returncode == 0, done.stderr
    told = [line.split()[1:3] for line in done.stdout.splitlines() if "pages (writer)" in line]
    assert told, done.stdout
    kind, number = told[0]
    assert kind == "begin" and ["end", number] in told


def test_a_program_whose_loops_are_not_watched_has_no_stalls():
    done = isoscope("stalls", "--watch-loops", "none", "--", LOOP, SLOW_MS)
    assert done.returncode == 1 and "no loop is watched (--watch-loops none" in done.stderr


def test_stats_tell_of_loops():
    with_stalls = isoscope("stats", "--", LOOP, SLOW_MS)
    assert with_stalls.returncode == 0, with_stalls.stderr
    assert "loops: 1 watched" in with_stalls.stdout
