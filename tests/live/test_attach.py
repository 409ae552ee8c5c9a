"""`isoscope attach` and `-p PID`: programs that run already, sampled from outside, that nothing is left of."""

from __future__ import annotations

import functools
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from accuracy import Sample, band, samples_of
from harness import BUILD, ISOSCOPE, Client, attached, end, measured, no_injection, until, until_ended, workload

SCHEMES = ("perf", "suspend")
REFUSE = str(BUILD / "tests" / "torture" / "refuse")


@functools.cache
def perf_is_refused() -> str:
    """The kernel's own words; "": it is not."""
    with running("sleep", "60", ready=False) as process:
        done = attach("--via", "perf", "--for", "1", process.pid)
    return done.stderr if done.returncode else ""


@pytest.fixture(params=SCHEMES)
def scheme(request):
    if request.param == "perf" and perf_is_refused():
        pytest.skip(perf_is_refused().strip())
    return request.param


def attach(*words):
    return subprocess.run([ISOSCOPE, "attach", *map(str, words)], capture_output=True, text=True, timeout=60)


@contextmanager
def running(*command, ready=True, **popen):
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **popen)
    try:
        if ready:
            assert process.stdout.readline() == "ready\n"
        yield process
    finally:
        end(process)


KERNEL_CODE_NOTICE = "the kernel lets only root sample its own code"  # of perf, to an ordinary user


def spinning(name="spin_two_to_one", *words):
    return running(workload(name), *(words or ("600",)), ready=False)


def seen_by(service) -> list[Sample]:
    with Client(service.uri) as client:
        replies = [client.call("_getCpuSamples", isolateId=process.id, timestamp=0) for process in client.processes()]
    return [sample for reply in replies for sample in samples_of(reply)]


def ticks_of(service) -> int:
    """Looks at threads: one that stands for several periods is told as several samples."""
    with Client(service.uri) as client:
        replies = [client.call("_getCpuSamples", isolateId=process.id, timestamp=0) for process in client.processes()]
    return sum(reply["_counters"]["ticks"] for reply in replies)


def sampled(service, ticks: int) -> list[Sample]:
    until(lambda: ticks_of(service) >= ticks, f"{ticks} looks")
    return seen_by(service)


def share_of(samples, function: str) -> float:
    """Of the CPU time."""
    return (sum(sample.cpu_s for sample in samples if function in sample.stack)
            / sum(sample.cpu_s for sample in samples))


def state_of(pid: int, tid: int | None = None) -> str:
    return Path(f"/proc/{pid}/task/{tid or pid}/stat").read_text().rpartition(")")[2].split()[0]


def threads_of(pid: int) -> list[int]:
    return [int(tid) for tid in os.listdir(f"/proc/{pid}/task")]


def is_left_alone(pid: int) -> bool:
    """Nobody traces it, none of its threads is stopped."""
    traced = any("\nTracerPid:\t0\n" not in Path(f"/proc/{pid}/task/{tid}/status").read_text() for tid in threads_of(pid))
    return not traced and all(state_of(pid, tid) not in "tT" for tid in threads_of(pid))


@pytest.mark.parametrize("program", ["spin_two_to_one", "deadlock_static"])
@measured  # where the machine is busy, looks stand for very different times, and few of them tell less
def test_shares_are_right_and_stacks_are_whole(scheme, program):
    with spinning(program) as process, attached(process.pid, "--via", scheme) as service:
        samples = sampled(service, 100)
        ticks = ticks_of(service)
        (info,), tree = Client(service.uri).processes(), service.tree()
        timer = Client(service.uri).call("getIsolate", isolateId=info.id)["_process"]["timer"]
    assert timer == scheme
    if program == "spin_two_to_one":
        assert share_of(samples, "spin_twice") == pytest.approx(2 / 3, abs=band(2 / 3, ticks) + 0.02)
        assert share_of(samples, "main") >= 0.99
    else:
        assert share_of(samples, "run_spinner") >= 0.99
    assert tree.sample_count >= 100


def test_samples_stand_for_all_that_the_kernel_counts(scheme):
    with spinning("threads", "4", "600") as process, attached(process.pid, "--via", scheme) as service:
        sampled(service, 50)
        before = {tid: used_s(process.pid, tid) for tid in threads_of(process.pid)}
        first = by_thread(seen_by(service))
        until(lambda: ticks_of(service) >= 200, "more samples")
        after = {tid: used_s(process.pid, tid) for tid in threads_of(process.pid)}
        last = by_thread(seen_by(service))
    used = sum(after.values()) - sum(before.values())
    told = sum(last.values()) - sum(first.values())
    # What a thread has used since its last sample is told with its next one.
    assert told == pytest.approx(used, rel=0.15, abs=0.4)
    assert len([tid for tid in last if last[tid] > 0.01]) == 4


def used_s(pid: int, tid: int) -> float:
    return int(Path(f"/proc/{pid}/task/{tid}/schedstat").read_text().split()[0]) / 1e9


def by_thread(samples) -> dict[int, float]:
    seconds: dict[int, float] = {}
    for sample in samples:
        seconds[sample.tid] = seconds.get(sample.tid, 0) + sample.cpu_s
    return seconds


def test_threads_have_their_names(scheme):
    with spinning("threads", "3", "600") as process, attached(process.pid, "--via", scheme) as service:
        sampled(service, 100)
        with Client(service.uri) as client:
            names = {str(isolate["name"]) for isolate in client.call("getVM")["isolates"]}
        kernel = {Path(f"/proc/{process.pid}/task/{tid}/comm").read_text().strip() for tid in threads_of(process.pid)}
    assert all(any(name in told for told in names) for name in kernel - {"threads"}), (kernel, names)


CHILDREN = """
import os, subprocess, sys
print("ready", flush=True)
sys.stdin.readline()
if os.fork() == 0:
    for _ in iter(int, 1):
        sum(i * i for i in range(10000))
subprocess.run([sys.argv[1], "600"], stdout=subprocess.DEVNULL)
"""


def test_children_and_what_they_become_are_followed_by_perf():
    if perf_is_refused():
        pytest.skip(perf_is_refused().strip())
    command = (sys.executable, "-c", CHILDREN, workload("spin_two_to_one"))
    with running(*command, stdin=subprocess.PIPE) as process, attached(process.pid, "--via", "perf") as service:
        process.stdin.write("\n")
        process.stdin.flush()
        until(lambda: any("spin_twice" in sample.stack for sample in seen_by(service)), "a sample of the program")
        with Client(service.uri) as client:
            found = programs_of(client)
        end_all_of(process.pid)
    assert len(found) >= 2
    assert any(name == "spin_two_to_one" for name in found.values()), found


def programs_of(client) -> dict[int, str]:
    return {client.call("getIsolate", isolateId=known.id)["_process"]["pid"]: known.name for known in client.processes()}


def end_all_of(pid: int) -> None:
    for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        os.kill(int(child), signal.SIGKILL)


def test_the_children_of_a_program_are_left_alone_when_that_is_asked():
    if perf_is_refused():
        pytest.skip(perf_is_refused().strip())
    command = (sys.executable, "-c", CHILDREN, workload("spin_two_to_one"))
    with running(*command, stdin=subprocess.PIPE) as process:
        with attached(process.pid, "--via", "perf", "--no-children", "--mode", "wall") as service:
            process.stdin.write("\n")
            process.stdin.flush()
            until(lambda: len(Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()) == 2,
                  "both children")
            sampled(service, 20)
            with Client(service.uri) as client:
                assert list(programs_of(client)) == [process.pid]
        end_all_of(process.pid)


def test_wall_mode_shows_where_threads_wait(scheme):
    # All samples are read each time: of fewer rounds a busy machine reads them as fast as they come.
    words = ("--via", scheme, "--mode", "wall", "--period", "20000")
    with running(workload("deadlock")) as process, attached(process.pid, *words) as service:
        def stacks():
            return [sample.stack for sample in seen_by(service)]

        for function in ("run_first", "run_poller", "run_reader", "spin"):
            until(lambda function=function: any(function in stack for stack in stacks()), function)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_nothing_is_left_of_it(scheme, number):
    with running(workload("deadlock")) as process:
        for _ in range(5):
            with attached(process.pid, "--via", scheme) as service:
                sampled(service, 5)
                os.kill(service.process.pid, number)
                service.process.wait()
            until(lambda: is_left_alone(process.pid), "nobody traces it")
            assert process.poll() is None
        before = used_s_of_all(process.pid)
        until(lambda: used_s_of_all(process.pid) > before, "it goes on")
        process.kill()
        assert process.stdout.read() == ""  # no call of its threads was interrupted


def used_s_of_all(pid: int) -> float:
    return sum(used_s(pid, tid) for tid in threads_of(pid))


def test_it_ends_with_the_program(scheme):
    with spinning("spin_two_to_one", "0.3") as process:
        done = attach("--via", scheme, "--quiet", process.pid)
    told = [line for line in done.stderr.splitlines() if KERNEL_CODE_NOTICE not in line]
    assert (done.returncode, told) == (0, [])


@measured
def test_it_says_what_it_does_and_leaves_when_it_is_told(scheme):
    with spinning() as process:
        done = attach("--via", scheme, "--for", "3", "--stats", process.pid)
        assert process.poll() is None and is_left_alone(process.pid)
    assert done.returncode == 0
    assert f"isoscope: attached to process {process.pid} by {scheme}\n" in done.stderr
    assert "The Dart VM service is listening on http://127.0.0.1:" in done.stderr
    if scheme == "perf" and os.geteuid() and Path("/proc/sys/kernel/perf_event_paranoid").read_text().strip() == "2":
        assert KERNEL_CODE_NOTICE in done.stderr
    assert "delivered" in done.stderr and "complete: they reach the thread's start" in done.stderr


@pytest.mark.parametrize("error, reason", [("EPERM", "(a seccomp filter forbids them)"), ("EACCES", "(kernel.perf_event_paranoid is ")])
def test_where_perf_is_refused_the_reason_is_told_and_threads_are_stopped_instead(error, reason):
    if "\nSeccomp:\t0\n" not in Path("/proc/self/status").read_text():
        pytest.skip("perf is refused to all that is started here: nobody can choose by which error")
    with spinning() as process:
        words = [REFUSE, "perf", error, ISOSCOPE, "attach", "--for", "2", "--stats", str(process.pid)]
        done = subprocess.run(words, capture_output=True, text=True, timeout=60)
        only = subprocess.run([*words[:5], "--via", "perf", str(process.pid)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done
    assert f"the kernel refused perf events for process {process.pid} {reason}" in done.stderr
    assert "Threads that run are stopped for a moment instead (--via suspend)" in done.stderr
    assert re.search(r"^isoscope: +stops +[1-9]", done.stderr, re.MULTILINE), done
    assert only.returncode == 1 and reason in only.stderr


HOLDS_BUFFERS = """
import ctypes, mmap, platform, struct, sys
libc, number = ctypes.CDLL(None, use_errno=True), {"x86_64": 298, "aarch64": 241}[platform.machine()]
attr = struct.pack("IIQQQQQ", 1, 112, 9, 0, 0, 0, 0x60).ljust(112, bytes(1))  # it counts nothing, in user code
held, pages = [], 128
while pages:
    event = libc.syscall(number, attr, 0, -1, -1, 0)
    assert event >= 0, ctypes.get_errno()
    try:
        held.append(mmap.mmap(event, (pages + 1) * mmap.PAGESIZE))
    except PermissionError:
        pages //= 2
print("ready", flush=True)
sys.stdin.read()
"""


def test_a_user_who_may_lock_no_more_memory_for_perf_is_told_so():
    if os.geteuid() == 0:
        pytest.skip("root may lock all memory")
    if perf_is_refused():
        pytest.skip(perf_is_refused().strip())
    limit = ["prlimit", "--memlock=0"]
    with running(*limit, "/usr/bin/python3", "-c", HOLDS_BUFFERS, stdin=subprocess.PIPE), spinning() as process:
        done = subprocess.run([*limit, ISOSCOPE, "attach", "--via", "perf", "--for", "1", str(process.pid)],
                              capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and "need more locked memory than this user may have: raise `ulimit -l`" in done.stderr, done


HIDES = """
import ctypes, sys
ctypes.CDLL(None).prctl(4, 0)  # PR_SET_DUMPABLE: of its user, nobody but root may read it
print("ready", flush=True)
sys.stdin.read()
"""


def test_where_both_schemes_are_refused_one_message_says_what_to_change():
    """As an ordinary user, where Yama or the program itself lets nobody read it."""
    if os.geteuid():
        pytest.skip("takes root, to run a program as another user")
    nobody = ("setpriv", "--reuid=65534", "--clear-groups")
    # By a program of that user's: setpriv's own exec is still root's.
    if subprocess.run([*nobody, "/bin/sh", "-c", '"$0" --version', ISOSCOPE], capture_output=True).returncode:
        pytest.skip("another user may not run what was built here")
    with running(*nobody, "/usr/bin/python3", "-c", HIDES, stdin=subprocess.PIPE) as process:
        def done(*words):
            return subprocess.run([*nobody, REFUSE, "perf", ISOSCOPE, "attach", *words, str(process.pid)],
                                  capture_output=True, text=True, timeout=60)

        both = done()
        each = [both, done("--via", "suspend"), *([] if no_injection() else [done("--via", "inject")])]
    assert both.stderr.count("isoscope:") == 1 and "the kernel refused perf events" in both.stderr, both
    for one in each:
        assert one.returncode == 1, one
        assert f"the kernel does not let isoscope read process {process.pid}" in one.stderr, one


I386 = """
__attribute__((force_align_arg_pointer)) void _start(void)
{
    __asm__ volatile("int $0x80" : : "a"(4), "b"(1), "c"("ready\\n"), "d"(6) : "memory");
    for (;;)
        __asm__ volatile("int $0x80" : : "a"(29));
}
"""


def test_a_program_of_another_architecture_is_told_so(tmp_path):
    (tmp_path / "a.c").write_text(I386)
    words = ["gcc", "-m32", "-static", "-nostdlib", "-ffreestanding", "-fno-pie", "-no-pie", "-o", tmp_path / "a", tmp_path / "a.c"]
    if os.uname().machine != "x86_64" or subprocess.run(words, capture_output=True).returncode:
        pytest.skip("no compiler for i386 here")
    try:
        with running(tmp_path / "a") as process:
            for words in ((),) if no_injection() else ((), ("--via", "inject")):
                done = attach(*words, process.pid)
                assert done.returncode == 1 and "is a 32-bit program of another architecture" in done.stderr, done
            assert process.poll() is None
    except OSError as problem:
        pytest.skip(f"this kernel runs no 32-bit programs: {problem}")


def test_a_recording_of_it_is_a_session(scheme, tmp_path):
    file = tmp_path / "a.isoscope"
    with spinning() as process:
        done = attach("--via", scheme, "--for", "1", "-o", file, process.pid)
        ending = subprocess.Popen([ISOSCOPE, "attach", "--quiet", "-o", tmp_path / "b.isoscope", str(process.pid)])
        until(lambda: (tmp_path / "b.isoscope").exists(), "a recording")
        ending.terminate()
        assert ending.wait() == 0
    assert done.returncode == 0 and f"{file}" in done.stderr, done
    tree = subprocess.run([ISOSCOPE, "tree", file], capture_output=True, text=True)
    assert "spin_twice" in tree.stdout, tree


def test_programs_are_found_by_name(tmp_path):
    copy = str(tmp_path / "named_for_test")
    shutil.copy(workload("spin_two_to_one"), copy)
    with running(copy, "600", ready=False) as one, running(copy, "600", ready=False) as other:
        done = attach("--name", "named_for_*", "--for", "1")
    assert done.returncode == 0
    for process in (one, other):
        # Where perf is refused another sentence names it.
        assert f" process {process.pid} " in done.stderr
    assert attach("--name", "no such program").stderr.startswith(
        "isoscope: no process that you may sample is called 'no such program'\n")


@pytest.mark.parametrize("words, status, error", [
    ((), 2, "no process given: isoscope attach PID"),
    (("abc",), 2, "'abc' is not the number of a process"),
    (("--name", "x", "1"), 2, "--name and '1' exclude each other"),
    (("--via", "magic", "1"), 2, "--via"),
    ((2**22 + 5,), 1, "there is no process 4194309"),
])
def test_wrong_words_are_named(words, status, error):
    done = attach(*words)
    assert done.returncode == status and error in done.stderr


def test_a_process_that_has_a_tracer_says_who_that_is():
    with spinning() as process, attached(process.pid, "--via", "suspend") as service:
        sampled(service, 5)
        # Between two stops nobody traces it: a second one finds its moments, too.
        done = attach("--via", "suspend", "--for", "1", process.pid)
        assert process.poll() is None
    assert done.returncode in (0, 1)


def test_commands_take_a_process_as_their_source():
    with spinning() as process:
        def run(*words):
            return subprocess.run([ISOSCOPE, *words, "-p", str(process.pid)], capture_output=True, text=True, timeout=60)

        tree, both, wrong = run("tree", "--last", "1s"), run("tree", "x.json"), run("tree", "--gil")
        stacks = run("dump")
        assert is_left_alone(process.pid)
    assert "spin_twice" in tree.stdout and tree.returncode == 0
    assert both.returncode == 2
    assert wrong.returncode == 2 and "--gil needs `-- COMMAND`: nothing of ours is in a process that runs already" in wrong.stderr
    assert "spin_" in stacks.stdout


PYTHON = """
def inner(count):
    return sum(i * i for i in range(count))
def outer():
    print("ready", flush=True)
    while True:
        inner(100_000)
outer()
"""


def test_functions_of_an_interpreter_are_read_while_its_thread_stands_still(tmp_path):
    """Debian's Python: which versions can be read is a matter of test_python_frames.py."""
    script = tmp_path / "works.py"
    script.write_text(PYTHON)
    with running("/usr/bin/python3", str(script)) as process:
        with attached(process.pid, "--via", "suspend") as service:
            until(lambda: any("inner" in sample.stack for sample in seen_by(service)), "a Python function")
            samples = [sample for sample in seen_by(service) if "inner" in sample.stack]
            assert all("outer" in sample.stack and "<module>" in sample.stack for sample in samples)
        assert f"attached to process {process.pid} by suspend" in attach("--for", "1", process.pid).stderr
        with attached(process.pid, "--via", "suspend", "--no-runtimes") as service:
            assert not any("inner" in sample.stack for sample in sampled(service, 20))
        assert is_left_alone(process.pid)
