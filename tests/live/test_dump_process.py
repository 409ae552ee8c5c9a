"""`isoscope dump PID|CORE`: a stack of every thread of a program that nobody profiles, and why there is none."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest
from harness import ISOSCOPE, end, until, workload

KINDS = ("deadlock", "deadlock_static")


def dump(*words, status=0):
    done = subprocess.run([ISOSCOPE, "dump", *map(str, words)], capture_output=True, text=True)
    assert done.returncode == status, done
    return done


def dumped(source, *words):
    return json.loads(dump("--json", *words, source).stdout)


def names_of(thread):
    return [frame["function"] for frame in thread["frames"]]


def by_name(stacks):
    assert stacks["type"] == "isoscope.dump"
    return {thread["thread"]: thread for thread in stacks["threads"]}


def is_at_rest(pid: int) -> bool:
    stacks = dumped(pid)
    return stacks["deadlocks"] and sum("waits" in thread for thread in stacks["threads"]) == 6


@contextmanager
def running(*command, **popen):
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **popen)
    try:
        assert process.stdout.readline() == "ready\n"
        yield process
    finally:
        end(process)


@contextmanager
def at_rest(name="deadlock", **popen):
    with running(workload(name), **popen) as process:
        until(lambda: is_at_rest(process.pid), "all threads are where they stay")
        yield process


@pytest.mark.parametrize("kind", KINDS)
def test_two_threads_that_wait_for_each_other_are_named_and_so_is_what_others_wait_for(kind):
    with at_rest(kind) as process:
        stacks = dumped(process.pid)
        text = dump(process.pid).stdout
    threads = by_name(stacks)
    first, second = threads["first"]["tid"], threads["second"]["tid"]
    assert stacks["deadlocks"] == [sorted((first, second))]
    assert (threads["first"]["lockOwner"], threads["second"]["lockOwner"]) == (second, first)
    assert threads["reader"]["lockOwner"] == process.pid
    assert threads["joiner"]["lockOwner"] == first
    assert threads["poller"]["waits"].startswith("epoll_")
    assert f'deadlock: thread {first} "first" waits for {second} "second", which waits for {first}' in text
    assert f'thread {threads["reader"]["tid"]} "reader": waits for a lock at ' in text
    assert f'held by thread {process.pid} "{kind}' in text  # a thread's name has 15 characters at most


@pytest.mark.parametrize("kind", KINDS)
def test_every_stack_reaches_its_threads_start(kind):
    with at_rest(kind) as process:
        threads = by_name(dumped(process.pid))
    assert all(thread["whole"] for thread in threads.values()), threads
    assert not any("found" in frame for thread in threads.values() for frame in thread["frames"])
    assert names_of(threads["spinner"])[0] == "spin"
    assert "lock_second_mutex" in names_of(threads["first"])
    for name in ("first", "second", "reader", "joiner", "poller"):
        assert f"run_{name}" in names_of(threads[name])
    assert "main" in names_of(threads[kind[:15]])


def test_only_the_thread_that_runs_is_stopped_and_no_call_is_interrupted():
    with at_rest() as process:
        for _ in range(20):
            threads = by_name(dumped(process.pid))
            assert [name for name, thread in threads.items() if "stoppedMicros" in thread] == ["spinner"]
            status = Path(f"/proc/{process.pid}/status").read_text()
            assert "\nTracerPid:\t0\n" in status
        process.kill()
        assert process.stdout.read() == ""


def test_a_stopped_program_stays_stopped():
    with at_rest() as process:
        os.kill(process.pid, signal.SIGSTOP)
        until(lambda: state_of(process.pid) == "T", "it is stopped")
        threads = by_name(dumped(process.pid))
        assert '"spinner": is stopped' in dump("--thread", "spinner", process.pid).stdout
        assert state_of(process.pid) == "T"
        assert names_of(threads["spinner"])[0] == "spin"
        assert all(thread["whole"] for thread in threads.values())
        os.kill(process.pid, signal.SIGCONT)
        until(lambda: state_of(process.pid) != "T", "it goes on")


VFORK = """
#include <unistd.h>
int main(void) { if (!vfork()) { write(1, "ready\\n", 6); pause(); _exit(0); } return 0; }
"""


def test_a_thread_that_cannot_be_stopped_is_shown_as_far_as_it_can_be_read(compiled):
    with running(compiled("waits", VFORK), start_new_session=True) as process:
        until(lambda: state_of(process.pid) == "D", "it waits for its child")
        text = dump(process.pid).stdout
        thread, = dumped(process.pid)["threads"]
        os.killpg(process.pid, signal.SIGKILL)
    assert "sleeps uninterruptibly in vfork" in text
    assert names_of(thread)[0] == "vfork" and "stoppedMicros" not in thread
    if not thread["whole"]:
        assert thread["why"] == "it cannot be stopped: it sleeps uninterruptibly"


def state_of(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def test_a_deleted_program_keeps_its_names(tmp_path):
    copy = tmp_path / "copied"
    shutil.copy(workload("deadlock"), copy)
    with running(str(copy)) as process:
        copy.unlink()
        until(lambda: is_at_rest(process.pid), "all threads are where they stay")
        spinner = by_name(dumped(process.pid))["spinner"]
    assert names_of(spinner)[0] == "spin" and spinner["whole"]


def test_a_program_in_another_root_and_network_keeps_its_names(tmp_path):
    if os.geteuid() or subprocess.run(["unshare", "--mount", "--net", "true"]).returncode:
        pytest.skip("only root may make namespaces here")
    shutil.copy(workload("deadlock_static"), tmp_path / "hidden")
    with running("unshare", "--mount", "--net", "chroot", str(tmp_path), "/hidden") as process:
        until(lambda: is_at_rest(process.pid), "all threads are where they stay")
        threads = dumped(process.pid)["threads"]  # without /proc, it cannot name its threads
    assert {name for thread in threads for name in names_of(thread)} >= {"spin", "run_first", "run_second", "main"}


MUSL = """
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static pthread_mutex_t one, other;
static pthread_barrier_t both;
__attribute__((noinline)) static void lock_second(pthread_mutex_t *mutex)
{
    pthread_mutex_lock(mutex);
    __asm__ volatile("" ::: "memory");
}
static void *run_first(void *context)
{
    pthread_mutex_lock(&one), pthread_barrier_wait(&both), lock_second(&other);
    return context;
}
static void *run_second(void *context)
{
    pthread_mutex_lock(&other), pthread_barrier_wait(&both), lock_second(&one);
    return context;
}
int main(int argc, char **argv)
{
    pthread_mutexattr_t type;
    pthread_t thread;

    pthread_mutexattr_init(&type);
    pthread_mutexattr_settype(&type, argc > 1 ? PTHREAD_MUTEX_ERRORCHECK : PTHREAD_MUTEX_DEFAULT);
    pthread_mutex_init(&one, &type);
    pthread_mutex_init(&other, &type);
    pthread_barrier_init(&both, NULL, 2);
    pthread_create(&thread, NULL, run_first, argv);
    pthread_create(&thread, NULL, run_second, argv);
    write(1, "ready\\n", 6);
    pause();
}
"""


@pytest.fixture(scope="module")
def musl(tmp_path_factory):
    """Static, of a libc without unwind data."""
    folder = tmp_path_factory.mktemp("musl")
    (folder / "a.c").write_text(MUSL)
    if not shutil.which("musl-gcc"):
        pytest.skip("there is no musl-gcc here")
    subprocess.run(["musl-gcc", "-O2", "-static", "-o", folder / "a", folder / "a.c"], check=True)
    return str(folder / "a")


def wait_of(pid: int) -> list[str]:
    return [thread.get("waits", "") for thread in dumped(pid)["threads"]]


def test_a_static_musl_program_has_whole_stacks_and_the_holders_of_mutexes_that_keep_them(musl):
    with running(musl, "checked") as process:
        until(lambda: dumped(process.pid)["deadlocks"], "both wait for each other")
        stacks = dumped(process.pid)
    _, first, second = stacks["threads"]
    assert stacks["deadlocks"] == [[first["tid"], second["tid"]]]
    assert (first["lockOwner"], second["lockOwner"]) == (second["tid"], first["tid"])
    for thread, function in (first, "run_first"), (second, "run_second"):
        assert thread["whole"], thread
        # By guesses, from what calls leave on the stack: in this order, maybe with older calls between them.
        names = [name for name in names_of(thread) if name in ("__timedwait", "lock_second", function, "__clone")]
        assert names == ["__timedwait", "lock_second", function, "__clone"], thread


def test_musls_default_mutexes_have_no_holder_and_that_is_said(musl):
    words = "a mutex of musl's default type, which keeps no holder"
    with running(musl) as process:
        until(lambda: sum(words in wait for wait in wait_of(process.pid)) == 2, "both wait")
        stacks = dumped(process.pid)
    assert not stacks["deadlocks"] and not any("lockOwner" in thread for thread in stacks["threads"])


def test_threads_can_be_chosen_by_name_and_number():
    with at_rest() as process:
        assert set(by_name(dumped(process.pid, "--thread", "*er"))) == {"reader", "joiner", "poller", "spinner"}
        assert set(by_name(dumped(process.pid, "--thread", process.pid))) == {"deadlock"}
        error = dump("--thread", "nobody", process.pid, status=1).stderr
    assert error == f"isoscope: dump: process {process.pid} has no thread called 'nobody'\n"


def test_without_lines_no_debug_data_is_read_and_the_names_are_the_same():
    """Of functions that are not inlined."""
    with at_rest() as process:
        lines, bare = dumped(process.pid), dumped(process.pid, "--no-lines")
    for with_lines, without in zip(lines["threads"], bare["threads"]):
        assert not any("line" in frame or "inlined" in frame for frame in without["frames"])
        assert [(frame["offset"], frame["function"]) for frame in with_lines["frames"] if "inlined" not in frame
                and with_lines["thread"] != "spinner"] == [
               (frame["offset"], frame["function"]) for frame in without["frames"] if with_lines["thread"] != "spinner"]


# Core files.

def kernel_writes_cores_here() -> bool:
    return Path("/proc/sys/kernel/core_pattern").read_text().strip() == "core"


@pytest.fixture(scope="module")
def cores(tmp_path_factory):
    """Of each kind, made by the kernel."""
    if not kernel_writes_cores_here():
        pytest.skip("kernel.core_pattern is not 'core': the kernel does not leave core files where programs run")
    found = {}
    for kind in KINDS:
        folder = tmp_path_factory.mktemp(kind)
        unlimited = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
        with at_rest(kind, cwd=folder, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, unlimited)) as process:
            os.kill(process.pid, signal.SIGABRT)
            process.wait()
        found[kind] = next(folder.glob("core*"))
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_a_core_file_tells_the_same(cores, kind):
    stacks = dumped(cores[kind])
    threads = stacks["threads"]
    assert stacks["signal"] == signal.SIGABRT and len(threads) == 7
    assert all(thread["whole"] for thread in threads), threads
    ring, = stacks["deadlocks"]
    of_ring = [thread for thread in threads if thread["tid"] in ring]
    assert {name for thread in of_ring for name in names_of(thread)} >= {"run_first", "run_second"}
    assert "ended by signal 6 (Aborted)" in dump(cores[kind]).stdout


def test_a_core_file_that_was_cut_off_says_so(cores, tmp_path):
    cut = tmp_path / "cut"
    whole = cores["deadlock"].read_bytes()
    cut.write_bytes(whole[:32768])
    text = dump(cut).stdout
    assert f"the core file is cut off: its last {len(whole) - 32768} bytes are missing" in text
    assert "it ends here: there is no memory at 0x" in text
    cut.write_bytes(whole[:200])
    assert "is cut off: its program headers lie beyond its end" in dump(cut, status=1).stderr


def test_a_core_file_that_names_a_pipe_for_a_program_waits_for_nothing(tmp_path):
    core = (Path(__file__).parents[1] / "fuzz" / "corpus" / "core" / "whole").read_bytes()
    named = b"/usr/local/prog_"
    pipe = f"/tmp/i{os.getpid():010d}"
    assert len(pipe) == len(named) and core.count(named) == 1
    os.mkfifo(pipe)
    try:
        (tmp_path / "core").write_bytes(core.replace(named, pipe.encode()))
        text = dump(tmp_path / "core").stdout
    finally:
        os.unlink(pipe)
    assert "ended by signal 4" in text


def test_what_is_no_core_file_is_told_so():
    error = dump(ISOSCOPE, status=1).stderr
    assert error == f"isoscope: dump: '{ISOSCOPE}' is no core file, but a program or a library\n"


# Who cannot be read.

def test_a_number_without_a_process_is_told_so():
    assert dump(2**22 + 5, status=1).stderr == "isoscope: dump: there is no process 4194309\n"


def test_a_process_that_has_ended_is_told_so():
    process = subprocess.Popen(["true"])
    until(lambda: state_of(process.pid) == "Z", "it has ended")
    error = dump(process.pid, status=1).stderr
    process.wait()
    assert error == (f"isoscope: dump: process {process.pid} has ended; its parent (pid {os.getpid()}) "
                     "has not asked for its status yet\n")


FIRST_ENDS = """
#include <pthread.h>
#include <unistd.h>
static void *spin(void *context) { for (volatile int i = 0;; i++) ; return context; }
int main(void) { pthread_t thread; pthread_create(&thread, 0, spin, 0); write(1, "ready\\n", 6); pthread_exit(0); }
"""


def test_a_process_without_its_first_thread_is_told_so(compiled):
    with running(compiled("first_ends", FIRST_ENDS, "-pthread")) as process:
        until(lambda: state_of(process.pid) == "Z", "its first thread has ended")
        error = dump(process.pid, status=1).stderr
    assert error == (f"isoscope: dump: the first thread of process {process.pid} has ended while others run on: the kernel "
                     "shows nothing of such a process\n")


def test_a_threads_number_leads_to_its_process():
    with at_rest() as process:
        tid = by_name(dumped(process.pid))["spinner"]["tid"]
        error = dump(tid, status=1).stderr
    assert error == f"isoscope: dump: {tid} is a thread of process {process.pid}: give that number\n"


def test_a_kernel_thread_runs_no_program():
    kernel = next((pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if is_kernel_thread(pid)), None)
    if not kernel:
        pytest.skip("no thread of the kernel can be seen here")
    error = dump(kernel, status=1).stderr
    assert error == f"isoscope: dump: process {kernel} is a thread of the kernel: it runs no program\n"


def is_kernel_thread(pid: int) -> bool:
    try:
        return "\nVmSize:" not in Path(f"/proc/{pid}/status").read_text() and state_of(pid) in "SI"
    except OSError:
        return False


SEIZE = """
import ctypes, sys, time
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
assert libc.ptrace(0x4206, int(sys.argv[1]), None, None) == 0, ctypes.get_errno()
print("ready", flush=True)
sys.stdin.read()
"""


def test_a_process_that_is_traced_names_its_tracer():
    with at_rest() as process:
        with running(sys.executable, "-c", SEIZE, str(process.pid), stdin=subprocess.PIPE) as tracer:
            error = dump(process.pid, status=1).stderr
    assert f"process {process.pid} is traced by " in error
    assert f" (pid {tracer.pid}) already: a process has one tracer; end that one first" in error


def test_another_users_process_names_the_user():
    if os.geteuid() == 0:
        pytest.skip("root may read every process")
    error = dump(1, status=1).stderr
    assert error == "isoscope: dump: process 1 belongs to root: run isoscope as that user, or as root\n"



def test_a_program_that_nobody_may_read_is_told_with_what_to_do():
    if os.geteuid() == 0:
        pytest.skip("root may read every process")
    words = "import ctypes, sys; ctypes.CDLL(None).prctl(4, 0, 0, 0, 0); print('ready', flush=True); sys.stdin.read()"
    with running(sys.executable, "-c", words, stdin=subprocess.PIPE) as process:
        error = dump(process.pid, status=1).stderr
    assert f"does not let isoscope read process {process.pid}" in error or "belongs to root" in error


@pytest.mark.parametrize("words, wrong", [
    (("1", "2"), "dump takes one process or core file, but got '2' too"),
    (("--thread", "a", "--age", "3", "1"), "--age is not an option of isoscope dump"),
])
def test_wrong_words_are_named(words, wrong):
    assert wrong in dump(*words, status=2).stderr


def test_help_for_processes_names_the_options():
    help_text = dump("--help", 1).stdout
    assert "isoscope dump [OPTIONS] CORE" in help_text and "--no-lines" in help_text
