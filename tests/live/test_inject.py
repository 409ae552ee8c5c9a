"""`isoscope attach --via inject`: the sampler is loaded into a program that runs, and stopped there again."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from accuracy import band, samples_of
from harness import BUILD, ISOSCOPE, Client, attached, end, no_injection, until, workload
from host_service import reason_for_no_users

pytestmark = pytest.mark.skipif(bool(no_injection()), reason=no_injection())

SUBJECT = str(BUILD / "tests" / "torture" / "attached")
REFUSE = str(BUILD / "tests" / "torture" / "refuse")


def inject(*words):
    return subprocess.run([ISOSCOPE, "attach", "--via", "inject", *map(str, words)], capture_output=True, text=True, timeout=60)


class Subject:
    def __init__(self, *command):
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

    def __enter__(self):
        assert self.process.stdout.readline() == "ready\n"
        return self.process

    def __exit__(self, *_):
        end(self.process)


def status_of(pid: int) -> dict[str, str]:
    return dict(line.split(":\t", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines() if ":\t" in line)


def is_as_before(pid: int) -> bool:
    status = status_of(pid)
    return status["TracerPid"] == "0" and status["State"][0] in "RS" and int(status["SigBlk"], 16) == 0


def ending(process) -> str:
    process.send_signal(signal.SIGTERM)
    said = process.communicate(timeout=30)[0]
    assert process.returncode == 0, said
    return said


def seen(service):
    with Client(service.uri) as client:
        (process,) = client.processes()
        return list(samples_of(client.call("_getCpuSamples", isolateId=process.id, timestamp=0)))


@pytest.mark.parametrize("way, function", [("malloc", "allocate"), ("compute", "compute"), ("fork", "make_child"), ("dlopen", "load")])
def test_the_program_samples_itself_from_then_on(way, function):
    with Subject(SUBJECT, way) as process:
        with attached(process.pid, "--via", "inject") as service:
            with Client(service.uri) as client:
                until(lambda: len(client.processes()) >= 1, "its hello")
                own = [known for known in client.processes() if str(process.pid) in known.id]
                timer = client.call("getIsolate", isolateId=own[0].id)["_process"]["timer"]
                until(lambda: client.call("_getCpuSamples", isolateId=own[0].id, timestamp=0)["_counters"]["ticks"] >= 20,
                      "samples")
        assert timer in ("sigtrap", "cpu-timer")
        until(lambda: is_as_before(process.pid), "it goes on")  # in a tick, signals are blocked
        assert "cut short" in ending(process)


def test_stacks_are_whole():
    with Subject(SUBJECT, "compute") as process, attached(process.pid, "--via", "inject") as service:
        until(lambda: len(seen(service)) >= 200, "samples")
        samples = seen(service)
    in_body = sum("body" in sample.stack for sample in samples)
    assert in_body / len(samples) >= 0.95 - band(0.95, len(samples))


def test_what_the_program_used_before_is_no_time_that_was_not_sampled():
    with Subject(SUBJECT, "compute") as process:
        until(lambda: used_s(process.pid) >= 1, "a second of its own")
        before_s = used_s(process.pid)
        with attached(process.pid, "--via", "inject") as service, Client(service.uri) as client:
            until(lambda: counters_of(client, process.pid)["ticks"] >= 100, "samples")
            not_sampled_ns = counters_of(client, process.pid)["not_sampled_ns"]
            since_s = used_s(process.pid) - before_s
    assert not_sampled_ns <= since_s * 1e9 + 20e6  # the kernel tells that in steps of 10 ms


def used_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def counters_of(client, pid: int) -> dict[str, int]:
    own = [process for process in client.processes() if str(pid) in process.id]
    return client.call("_getCpuSamples", isolateId=own[0].id, timestamp=0)["_counters"] if own else {"ticks": 0}


def test_an_interpreters_functions_are_shown():
    script = "import os\nprint('ready', flush=True)\ndef inner():\n    os.getppid(); return sum(range(5000))\nwhile True:\n    inner()"
    with Subject("/usr/bin/python3", "-c", script) as process, attached(process.pid, "--via", "inject") as service:
        until(lambda: any("inner" in sample.stack for sample in seen(service)), "a Python function")


def feeds_of(pid: int) -> set[str]:
    return {line.split()[4] for line in Path(f"/proc/{pid}/maps").read_text().splitlines() if "isoscope-feed" in line}


@pytest.mark.parametrize("way, left", [("compute", 0), ("wait", 1)])  # a loop's thread may be about to mark it in the last feed
def test_ejected_nothing_ticks_and_nothing_is_read_and_it_can_come_again(way, left):
    with Subject(SUBJECT, way) as process:
        for _ in range(3):
            done = inject("--eject", "--for", "1", process.pid)
            assert done.returncode == 0 and f"attached to process {process.pid} by inject" in done.stderr, done
            assert "not stopped" not in done.stderr
            assert is_as_before(process.pid)
            assert len(feeds_of(process.pid)) <= left
            assert not Path(f"/proc/{process.pid}/timers").read_text()
            assert not any("isoscope" in os.readlink(entry) for entry in Path(f"/proc/{process.pid}/fd").iterdir())
        ending(process)


def test_a_profiler_that_is_killed_leaves_a_program_that_goes_on():
    with Subject(SUBJECT, "malloc") as process:
        for wait_ms in range(0, 60, 4):
            profiler = subprocess.Popen([ISOSCOPE, "attach", "--quiet", "--via", "inject", str(process.pid)],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(wait_ms / 1000)  # any moment will do
            profiler.kill()
            profiler.wait()
            until(lambda: is_as_before(process.pid), "it goes on")
        ending(process)


def refused(pid) -> str:
    done = inject("--for", "1", pid)
    assert done.returncode == 1, done
    return done.stderr


def test_a_static_program_is_refused():
    with Subject(workload("deadlock_static")) as process:
        assert "it is linked statically" in refused(process.pid)
        assert is_as_before(process.pid)


def test_a_musl_program_is_refused(tmp_path):
    compiler = shutil.which("musl-gcc")
    if not compiler:
        pytest.skip("no musl-gcc here")
    source = tmp_path / "loops.c"
    source.write_text('#include <stdio.h>\n#include <unistd.h>\nint main(void){puts("ready");fflush(stdout);for(;;)pause();}')
    subprocess.run([compiler, "-o", tmp_path / "loops", source], check=True)
    with Subject(tmp_path / "loops") as process:
        assert "musl" in refused(process.pid)


def test_a_stopped_program_is_refused_and_stays_stopped():
    with Subject(SUBJECT, "compute") as process:
        process.send_signal(signal.SIGSTOP)
        until(lambda: status_of(process.pid)["State"][0] == "T", "it stands still")
        assert "is stopped: nothing can be loaded into it" in refused(process.pid)
        assert status_of(process.pid)["State"][0] == "T"
        process.send_signal(signal.SIGCONT)


def test_a_program_with_a_seccomp_filter_is_refused():
    with Subject(REFUSE, "perf", SUBJECT, "compute") as process:
        assert "has a seccomp filter" in refused(process.pid)
        ending(process)


def test_a_program_with_rights_of_two_users_is_refused():
    if os.geteuid():
        pytest.skip("only root makes one")
    with Subject("setpriv", "--ruid=65534", "--clear-groups", SUBJECT, "compute") as process:
        assert "has rights of two users" in refused(process.pid)


def test_a_program_that_waits_for_a_lock_only_is_refused_in_time():
    with Subject(sys.executable, "-c", MUTE) as process:
        began = time.monotonic()
        assert "no thread of process" in refused(process.pid)
        assert time.monotonic() - began < 10
        assert is_as_before(process.pid)


MUTE = "import threading\nprint('ready', flush=True)\nlock = threading.Lock()\nlock.acquire()\nlock.acquire()"


GIVEN_UP = ("loading or stopping the sampler took more than two seconds, and was given up",
            "no thread of process")  # the latter on a machine so busy that two seconds bring none to a safe place


def test_a_loader_that_is_busy_for_too_long_is_given_up_and_nothing_has_happened():
    with Subject(SUBJECT, "loader") as process:
        said = refused(process.pid)
        assert any(words in said for words in GIVEN_UP), said
        assert is_as_before(process.pid)
        assert "libisoscope" not in Path(f"/proc/{process.pid}/maps").read_text()
        ending(process)


def test_a_library_that_is_half_loaded_after_too_long_is_loaded_on_and_the_thread_goes_back():
    with Subject(SUBJECT, "list") as process:
        said = refused(process.pid)
        assert any(words in said for words in GIVEN_UP), said
        assert status_of(process.pid)["TracerPid"] == "0"
        process.send_signal(signal.SIGTERM)  # to the program: who has the lock lets it go
        assert "cut short" in process.communicate(timeout=30)[0]
        assert process.returncode == 0


def test_what_another_isoscope_samples_from_inside_is_refused():
    with Subject(SUBJECT, "compute") as process, attached(process.pid, "--via", "inject") as service:
        until(lambda: seen(service), "a sample")
        assert "another isoscope reads what it takes" in refused(process.pid)


def test_eject_goes_with_inject_only():
    done = subprocess.run([ISOSCOPE, "attach", "--eject", "1"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and "--eject goes with --via inject only" in done.stderr


as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root injects into others' programs")
users = pytest.mark.skipif(reason_for_no_users() is not None, reason=reason_for_no_users() or "")
AS_NOBODY = ("setpriv", "--reuid", "nobody", "--regid", "nogroup", "--clear-groups")


@users
@pytest.mark.parametrize("way, function", [("malloc", "allocate"), ("compute", "compute")])
def test_root_injects_into_another_users_program_which_samples_itself(way, function):
    with Subject(*AS_NOBODY, SUBJECT, way) as process:
        with attached(process.pid, "--via", "inject", "--eject") as service:
            until(lambda: any(function in sample.stack for sample in seen(service)), "samples, with whole stacks")
            shared = [line.split() for line in Path(f"/proc/{process.pid}/maps").read_text().splitlines()]
            tables = [words for words in shared if words[-1].endswith(".tables")]
            assert tables and all(words[1].startswith("r-") for words in tables)  # which it cannot write
        until(lambda: is_as_before(process.pid), "it goes on")
        assert status_of(process.pid)["Uid"].split() == ["65534"] * 4
        ending(process)


@users
def test_programs_of_users_that_were_not_named_are_not_heard():
    """The socket is there for all users to speak to."""
    with Subject(*AS_NOBODY, SUBJECT, "compute") as process, attached(process.pid, "--via", "inject") as service:
        until(lambda: seen(service), "its hello")
        (folder,) = [path for path in Path("/tmp").glob("isoscope-*") if listens(service.process.pid, path)]
        assert folder.stat().st_uid == 0 and folder.stat().st_mode & 0o777 == 0o711
        feed = [f"ISOSCOPE_SOCKET={path}" for path in folder.iterdir() if path.is_socket()]
        preloaded = ["env", f"LD_PRELOAD={BUILD}/lib/libisoscope.so.0", *feed, SUBJECT, "compute"]
        with Subject("setpriv", "--reuid", "daemon", "--regid", "nogroup", "--clear-groups", *preloaded) as other, \
                Subject(*AS_NOBODY, *preloaded) as own, Client(service.uri) as client:
            until(lambda: str(own.pid) in {known.number for known in client.processes()}, "one of the same user's")
            assert str(other.pid) not in {known.number for known in client.processes()}


def listens(pid: int, folder: Path) -> bool:
    inodes = {line.split()[6] for line in Path("/proc/net/unix").read_text().splitlines() if str(folder) in line}
    return any(os.readlink(entry)[8:-1] in inodes for entry in Path(f"/proc/{pid}/fd").iterdir()
               if os.readlink(entry).startswith("socket:"))


@as_root
def test_a_library_that_the_user_may_not_read_is_refused_with_its_path(tmp_path):
    closed = tmp_path / "closed"
    for folder in ("bin", "lib"):
        (closed / folder).mkdir(parents=True)
    shutil.copy(ISOSCOPE, closed / "bin")
    shutil.copy(BUILD / "lib" / "libisoscope.so.0", closed / "lib")
    closed.chmod(0o700)
    with Subject(*AS_NOBODY, SUBJECT, "compute") as process:
        done = subprocess.run([closed / "bin" / "isoscope", "attach", "--via", "inject", "--for", "1", str(process.pid)],
                              capture_output=True, text=True, timeout=60)
        assert done.returncode == 1 and f"may not read {closed}/lib/libisoscope.so" in done.stderr, done
        assert is_as_before(process.pid)
