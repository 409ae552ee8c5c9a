"""`isoscope record` and `run -o`: the file, whatever happens to those who write it."""

from __future__ import annotations

import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import pytest
from harness import (
    DEADLINE_S, ISOSCOPE, NO_PERF_NOTICE, Client, children, default_timer, record, service_pid, serving,
    until, workload,
)  # fmt: skip

SPIN = workload("spin_two_to_one")
RECORDED = re.compile(r"isoscope: recorded (\d+) samples in (\S+) \((\S+ [kM]B)\); next: (.*)\n")
KILLS = int(os.environ.get("ISOSCOPE_KILLS", "20"))
MISSING_US_MAX = 1_000_000
# Between two looks of the recorder a busy machine may let it wait; so much is not the file's fault.
WAITED_US = 500_000


def start(*words, **popen) -> subprocess.Popen:
    popen = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True, **popen}
    return subprocess.Popen([ISOSCOPE, *map(str, words)], **popen)


def said(stderr: str) -> str:
    """But that CPU-time timers tick alone, where perf is refused."""
    return "".join(line for line in stderr.splitlines(keepends=True) if not line.startswith(NO_PERF_NOTICE))


def samples_of(*files) -> list[dict]:
    with serving(*files) as service, Client(service.uri) as client:
        return client.call("_getCpuSamples")["samples"]


def told_of(file) -> dict:
    with serving(file) as service, Client(service.uri) as client:
        return client.call("getVM")["_saved"][0]


def test_the_last_line_says_what_was_written_and_what_comes_next(tmp_path):
    done = record("cpu.isoscope", [SPIN, "0.3"], cwd=tmp_path)
    assert done.returncode == 0
    found = RECORDED.fullmatch(said(done.stderr))
    assert found, done.stderr
    samples, file, size, following = found.groups()
    assert file == "cpu.isoscope"
    assert following == "isoscope tree cpu.isoscope, or isoscope serve cpu.isoscope"
    written = (tmp_path / file).stat().st_size
    unit = 1e3 if "kB" in size else 1e6
    assert float(size.split()[0]) == pytest.approx(written / unit, abs=0.06)
    assert len(samples_of(tmp_path / file)) == int(samples)


def test_the_file_has_the_programs_name_where_none_is_given(tmp_path):
    subprocess.run([ISOSCOPE, "record", "--quiet", "--", SPIN, "0.1"], cwd=tmp_path, check=True,
                   timeout=DEADLINE_S)
    assert [one.name for one in tmp_path.iterdir()] == ["spin_two_to_one.isoscope"]


def test_nothing_listens_and_nothing_is_said_meanwhile(tmp_path):
    process = start("record", "-o", tmp_path / "x.isoscope", "--", SPIN, "100")
    try:
        service = service_pid(process.pid)
        until(lambda: children(process.pid), "the program")
        sockets = [link for link in descriptors(service) if link.startswith("socket:[")]
        inodes = {link.split("[")[1][:-1] for link in sockets}
        listening = [line for line in Path("/proc/net/tcp").read_text().splitlines()[1:]
                     if line.split()[9] in inodes]
        assert not listening
        until(lambda: has_samples(tmp_path / "x.isoscope"), "a sample in the file")
    finally:
        process.terminate()
    assert process.wait(DEADLINE_S) == -signal.SIGTERM
    assert RECORDED.fullmatch(said(process.stderr.read()))


def has_samples(file: Path) -> bool:
    return file.exists() and b"SMPL" in file.read_bytes()


def descriptors(pid: int) -> list[str]:
    links = []
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        try:
            links.append(os.readlink(entry))
        except OSError:
            continue
    return links


@pytest.mark.parametrize("script, status", [("exit 3", 3), ("kill -SEGV $$", -signal.SIGSEGV)])
def test_the_status_is_the_programs_and_stands_in_the_file(tmp_path, script, status):
    file = tmp_path / "x.isoscope"
    assert record(file, ["/bin/sh", "-c", f"{SPIN} 0.1; {script}"]).returncode == status
    with serving(file) as service, Client(service.uri) as client:
        ended = client.call("getVM")["_exit"]
    assert ended == ({"status": 3} if status == 3 else {"signal": "SIGSEGV", "core": ended["core"]})


def test_a_signal_ends_the_program_and_the_file_in_order(tmp_path):
    file = tmp_path / "x.isoscope"
    process = start("record", "-o", file, "--", SPIN, "100")
    until(lambda: file.exists() and children(process.pid), "the program")
    process.send_signal(signal.SIGINT)
    assert process.wait(DEADLINE_S) == -signal.SIGINT
    assert told_of(file)["closed"]


def test_a_session_is_replaced_and_anything_else_is_not(tmp_path):
    file, mine = tmp_path / "x.isoscope", tmp_path / "mine.txt"
    for _ in range(2):
        assert record(file, [SPIN, "0.1"]).returncode == 0
    mine.write_text("not a session")
    done = record(mine, [SPIN, "0.1"])
    assert done.returncode == 125 and mine.read_text() == "not a session"
    assert done.stderr == (f"isoscope: {mine} exists and is no session file; remove it, or choose "
                           "another name\n")


@pytest.mark.parametrize("words, said", [
    (["-o", "{}/no/x.isoscope"], "cannot write {}/no/x.isoscope: the folder {}/no/ does not exist"),
    (["-o", "{}"], "{} is a folder; give a file's name"),
    (["-o", "/dev/null"], "/dev/null is no regular file"),
])  # fmt: skip
def test_a_place_where_no_file_can_be_is_told_before_the_program_starts(tmp_path, words, said):
    words = [word.format(tmp_path) for word in words]
    done = subprocess.run([ISOSCOPE, "record", *words, "--", "touch", str(tmp_path / "started")],
                          capture_output=True, text=True, timeout=DEADLINE_S)
    assert (done.returncode, done.stderr) == (125, f"isoscope: {said.format(tmp_path, tmp_path)}\n")
    assert not (tmp_path / "started").exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_is_told(tmp_path):
    folder = tmp_path / "locked"
    folder.mkdir(mode=0o555)
    done = record(folder / "x.isoscope", ["touch", str(tmp_path / "started")])
    assert done.returncode == 125 and f"no file can be made in {folder}/" in done.stderr
    assert not (tmp_path / "started").exists()


@pytest.mark.parametrize("words, said", [
    (["record"], "no program given: isoscope record"),
    (["record", "--rotate", "soon", "true"], "--rotate: 'soon' is not a time from 1s to 168h"),
    (["record", "--keep", "5", "true"], "how many files are kept is a matter of --rotate TIME"),
    (["record", "--port", "80", "true"], "--port is not an option of isoscope record"),
    (["run", "--rotate", "5s", "true"], "--rotate is of a recording: -o FILE"),
])  # fmt: skip
def test_wrong_usage_is_told(words, said):
    done = subprocess.run([ISOSCOPE, *words], capture_output=True, text=True, timeout=DEADLINE_S)
    assert done.returncode == 2 and said in done.stderr, done.stderr
    assert f"Try `isoscope {words[0]} --help`." in done.stderr


# Whoever is killed.


def waited_us(pid: int) -> int:
    """For a processor, while it could have run."""
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[1]) // 1000


class Killed(NamedTuple):
    at_us: int
    ran_us: int  # since the program's start
    waited_us: int  # of that, the program and the service for a processor: no fault of the file's


def killed_at_random(file: Path, chance: random.Random) -> Killed:
    """Kills the service."""
    process = start("record", "-o", file, "--", SPIN, "100")
    try:
        service = service_pid(process.pid)
        until(lambda: file.exists() and children(process.pid), "the program")
        begun_us = time.monotonic_ns() // 1000
        both = [service, *children(process.pid)]
        waited_before = sum(map(waited_us, both))
        time.sleep(chance.uniform(0, 2.5))  # a moment at random: nothing is waited for
        waited = sum(map(waited_us, both)) - waited_before
        killed_us = time.monotonic_ns() // 1000
        os.kill(service, signal.SIGKILL)
        until(lambda: "isoscope's service failed" in process.stderr.readline(), "the message")
        assert children(process.pid), "the program runs on"
    finally:
        for pid in children(process.pid):
            os.kill(pid, signal.SIGTERM)
        process.wait(DEADLINE_S)
        process.stderr.close()
    return Killed(killed_us, killed_us - begun_us, waited)


def test_a_killed_service_leaves_a_file_that_opens(tmp_path):
    chance, missing = random.Random(19), []
    for number in range(KILLS):
        file = tmp_path / f"{number}.isoscope"
        killed_us, ran_us, waited = killed_at_random(file, chance)
        told = told_of(file)
        assert not told["closed"]
        samples = samples_of(file)
        late_us = killed_us - max((one["timestamp"] for one in samples), default=killed_us - ran_us)
        missing.append(late_us)
        assert late_us <= MISSING_US_MAX + WAITED_US + waited, \
            f"{late_us} us of {ran_us} are missing, of which {waited} were waited for a processor"
        file.unlink()
    print(f"missing of {KILLS}, us: median {sorted(missing)[KILLS // 2]}, most {max(missing)}")


def test_a_killed_isoscope_leaves_a_file_that_is_closed(tmp_path):
    file = tmp_path / "x.isoscope"
    process = start("record", "-o", file, "--", SPIN, "100")
    until(lambda: file.exists() and children(process.pid), "the program")
    service = os.pidfd_open(service_pid(process.pid))
    programs = children(process.pid)
    process.kill()
    process.wait()
    until(lambda: has_ended(service), "the service's end")
    for pid in programs:
        os.kill(pid, signal.SIGKILL)
    assert told_of(file)["closed"]


def has_ended(handle: int) -> bool:
    try:
        signal.pidfd_send_signal(handle, 0)
    except ProcessLookupError:
        return True
    return False


# A disk that is full.

# It computes until it is told to end, which is when the recording has.
UNTIL_TOLD = [sys.executable, "-c", "import json, select, sys\n"
              "while not select.select([sys.stdin], [], [], 0)[0]:\n"
              "    for n in range(500): json.loads(json.dumps([[{'a': [n, 2.5]}]] * (n % 40)))\n"
              "print('the program ended')\n"]


def assert_told_of_a_full_disk(process: subprocess.Popen, words: str) -> None:
    """And the program runs on, to its own end."""
    line = next(line for line in process.stderr if said(line))
    assert line.startswith("isoscope: recording has stopped: ") and words in line, line
    assert "The program is not touched" in line
    stdout, stderr = process.communicate("end\n", timeout=DEADLINE_S)
    assert (process.returncode, stdout) == (0, "the program ended\n"), stderr
    assert RECORDED.fullmatch(stderr), stderr


def test_a_limit_of_file_sizes_ends_the_recording_and_not_the_program(tmp_path):
    file = tmp_path / "x.isoscope"
    process = start("record", "--period", "100", "-o", file, "--", *UNTIL_TOLD,
                    stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    service = service_pid(process.pid)
    until(lambda: file.exists() and children(process.pid), "the program")
    limit = file.stat().st_size + 48 * 1024
    resource.prlimit(service, resource.RLIMIT_FSIZE, (limit, limit))
    assert_told_of_a_full_disk(process, "ulimit -f")
    assert file.stat().st_size <= limit
    assert not told_of(file)["closed"]
    assert samples_of(file)


def may_mount() -> bool:
    return bool(shutil.which("unshare")) and subprocess.run(
        ["unshare", "-m", "true"], capture_output=True).returncode == 0


@pytest.mark.skipif(not may_mount(), reason="needs a mount namespace, so root")
def test_a_full_disk_ends_the_recording_and_not_the_program(tmp_path):
    disk, copy = tmp_path / "disk", tmp_path / "copy.isoscope"
    disk.mkdir()
    script = ('mount -t tmpfs -o size=96k tmpfs "$1" && out=$1/x.isoscope copy=$2 && shift 2 && '
              'status=0; "$@" || status=$?; cp "$out" "$copy"; exit $status')
    command = [ISOSCOPE, "record", "--period", "100", "-o", str(disk / "x.isoscope"), "--"]
    words = ["unshare", "-m", "sh", "-c", script, "sh", str(disk), str(copy)]
    process = subprocess.Popen([*words, *command, *UNTIL_TOLD], text=True, stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert_told_of_a_full_disk(process, "the disk is full")
    assert samples_of(copy)


# A flight recorder.


ON_THEIR_WAY = 5  # samples that were counted and not yet read, when a file ended


def test_rotation_keeps_the_latest_files_each_complete(tmp_path):
    file = tmp_path / "day.isoscope"
    done = record(file, [SPIN, "5.5"], "--rotate", "1s", "--keep", "3")
    assert done.returncode == 0
    kept = sorted(tmp_path.iterdir())
    assert len(kept) == 3 and not file.exists()
    assert all(re.fullmatch(r"day-\d{8}-\d{6}(-\d+)?\.isoscope", one.name) for one in kept), kept
    parts = []
    for one in kept:
        with serving(one) as service, Client(service.uri) as client:
            parts.append(client.call("_getCpuSamples"))
        assert {"spin_twice", "spin_once"} & function_names(one) or not parts[-1]["samples"]
        assert told_of(one)["closed"]
    assert sum(len(part["samples"]) for part in parts) > 0
    for before, after in zip(parts, parts[1:]):
        times = [[sample["timestamp"] for sample in part["samples"]] for part in (before, after)]
        assert max(times[0], default=0) < min(times[1], default=2**53), "nothing twice"
        came = after["_counters"]["delivered"] - before["_counters"]["delivered"]
        assert abs(came - len(times[1])) <= ON_THEIR_WAY, "nothing is between them"


def function_names(file) -> set[str]:
    with serving(file) as service:
        return {function.name for function in service.tree().functions()}


def test_a_recording_lacks_nothing_that_a_small_store_lets_go(tmp_path):
    """The store holds a part of it: all that came is in the file."""
    if not default_timer().is_trap:
        pytest.skip("perf is refused: ticks of 4 ms are too few")
    file = tmp_path / "x.isoscope"
    done = record(file, [SPIN, "4"], "--history", "1", "--period", "50", "--stats")
    evicted = re.search(r"evicted +(\d+)", done.stderr)
    delivered = re.search(r"delivered +(\d+)", done.stderr)
    assert evicted and int(evicted.group(1)) > 0, done.stderr
    assert len(samples_of(file)) == int(delivered.group(1))
