"""`isoscope attach` and programs that are not as others: each is sampled right, or refused with one clear message, and goes on."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest
from harness import ISOSCOPE, Client, attached, end, no_injection, until, workload
from test_attach import attach, is_left_alone, perf_is_refused, running, sampled, seen_by, spinning, state_of, threads_of

VIAS = ("perf", "suspend", "inject")


@pytest.fixture(params=VIAS)
def via(request):
    if request.param == "perf" and perf_is_refused():
        pytest.skip(perf_is_refused().strip())
    if request.param == "inject" and no_injection():
        pytest.skip(no_injection())
    return request.param


@pytest.fixture(params=VIAS[:2])
def scheme(request):
    if request.param == "perf" and perf_is_refused():
        pytest.skip(perf_is_refused().strip())
    return request.param


def refused(via: str, pid: int) -> str:
    """The one message."""
    done = attach("--via", via, "--for", "1", pid)
    assert done.returncode == 1 and done.stderr.count("isoscope:") == 1, done
    return done.stderr


# ---- refused ----

def test_a_process_that_is_not_there(via):
    assert refused(via, 2**22 + 5) == "isoscope: attach: there is no process 4194309\n"


def test_a_process_that_has_ended(via):
    process = subprocess.Popen(["true"])
    until(lambda: state_of(process.pid) == "Z", "it has ended")
    assert f"process {process.pid} has ended; its parent (pid {os.getpid()}) has not asked for its status yet" in refused(via, process.pid)
    process.wait()


def test_a_thread_of_a_process(via):
    with spinning("threads", "2", "600") as process:
        until(lambda: len(threads_of(process.pid)) > 1, "its threads")
        tid = next(tid for tid in threads_of(process.pid) if tid != process.pid)
        assert f"{tid} is a thread of process {process.pid}: give that number" in refused(via, tid)


def test_a_thread_of_the_kernel(via):
    if "\nVmSize:" in Path("/proc/2/status").read_text() if Path("/proc/2").exists() else True:
        pytest.skip("no thread of the kernel can be seen here")
    assert "is a thread of the kernel: it runs no program" in refused(via, 2)


TRACES = """
import ctypes, sys
libc = ctypes.CDLL(None)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
assert libc.ptrace(0x4206, int(sys.argv[1]), None, None) == 0
print("ready", flush=True)
sys.stdin.read()
"""


def test_a_process_that_is_traced_already(via):
    with spinning() as process, running("/usr/bin/python3", "-c", TRACES, str(process.pid), stdin=subprocess.PIPE) as tracer:
        said = refused(via, process.pid)
    assert f"process {process.pid} is traced by " in said and f"(pid {tracer.pid}) already" in said


def test_a_process_of_another_user_names_the_user(via):
    if os.geteuid() == 0:
        pytest.skip("root may sample every process")
    assert refused(via, 1) == "isoscope: attach: process 1 belongs to root: run isoscope as that user, or as root\n"


VFORK = """
#include <unistd.h>
int main(void) { if (!vfork()) { write(1, "ready\\n", 6); pause(); _exit(0); } return 0; }
"""


# A file system whose server says nothing, not even which version it is: who asks it sleeps until the server has gone. In a mount
# namespace of its own, so nothing is left.
ASKS_FUSE = """
import ctypes, os, sys
folder = sys.argv[1].encode()
fuse = os.open("/dev/fuse", os.O_RDWR)
libc = ctypes.CDLL(None, use_errno=True)
options = f"fd={fuse},rootmode=40000,user_id=0,group_id=0".encode()
if libc.mount(b"mute", folder, b"fuse", 0, options):
    sys.exit(os.strerror(ctypes.get_errno()))
if os.fork():
    os.wait()
else:
    print("ready", os.getpid(), flush=True)
    os.stat(folder + b"/file")
"""


@contextmanager
def asleep_in(what: str, compiled, tmp_path):
    """The process that sleeps, uninterruptibly."""
    if what == "vfork":
        with running(compiled("waits", VFORK), start_new_session=True) as process:
            until(lambda: state_of(process.pid) == "D", "it waits for its child")
            yield process.pid
            os.killpg(process.pid, signal.SIGKILL)
        return
    if os.geteuid() or not os.path.exists("/dev/fuse"):
        pytest.skip("only root may mount a file system of FUSE's, with a /dev/fuse")
    words = ["unshare", "--mount", "/usr/bin/python3", "-c", ASKS_FUSE, tmp_path]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        line = process.stdout.readline()
        if not line:
            pytest.skip(f"no file system of FUSE's here: {process.communicate()[1].strip()}")
        pid = int(line.split()[1])
        until(lambda: state_of(pid) == "D", "it waits for an answer")
        yield pid
        assert process.poll() is None
        os.kill(pid, signal.SIGKILL)
    finally:
        end(process)


@pytest.mark.parametrize("what", ["vfork", "fuse"])
def test_a_process_in_uninterruptible_sleep_is_waited_for_or_refused_and_never_harmed(via, what, compiled, tmp_path):
    with asleep_in(what, compiled, tmp_path) as pid:
        if via == "inject":
            assert "no thread of process" in refused(via, pid)
        else:  # nothing of it runs, so nothing of it is stopped
            done = attach("--via", via, "--for", "1", pid)
            assert done.returncode == 0, done
        assert state_of(pid) == "D" and "\nTracerPid:\t0\n" in Path(f"/proc/{pid}/status").read_text()


def test_a_dump_of_a_process_that_waits_for_a_file_system_names_the_file_and_stops_nothing(compiled, tmp_path):
    with asleep_in("fuse", compiled, tmp_path) as pid:
        done = subprocess.run([ISOSCOPE, "dump", str(pid)], capture_output=True, text=True, timeout=60)
        assert state_of(pid) == "D" and "\nTracerPid:\t0\n" in Path(f"/proc/{pid}/status").read_text()
    assert done.returncode == 0 and f"({tmp_path}/file)" in done.stdout and "was stopped" not in done.stdout, done


# ---- that end, or become something else ----

def test_a_process_that_ends_in_the_middle(via):
    """At any moment of attaching."""
    for wait_ms in range(0, 45, 3):
        process = subprocess.Popen([workload("spin_two_to_one"), str(wait_ms / 1000)], stdout=subprocess.DEVNULL)
        done = attach("--via", via, "--for", "2", process.pid)
        process.wait()
        assert done.returncode in (0, 1), done
        assert process.returncode == 0
        assert f"process {process.pid}" in done.stderr, done


EXECS = """
import os, sys
print("ready", flush=True)
sys.stdin.readline()
os.execv(sys.argv[1], [sys.argv[1], "600"])
"""


def test_a_process_that_becomes_another_program(scheme):
    with running("/usr/bin/python3", "-c", EXECS, workload("spin_two_to_one"), stdin=subprocess.PIPE) as process:
        with attached(process.pid, "--via", scheme) as service:
            process.stdin.write("\n")
            process.stdin.flush()
            until(lambda: any("spin_twice" in sample.stack for sample in seen_by(service)), "a sample of what it became")
        until(lambda: is_left_alone(process.pid), "nobody traces it")
        assert process.poll() is None


def test_a_process_that_becomes_another_program_leaves_an_injected_sampler_behind():
    if no_injection():
        pytest.skip(no_injection())
    script = EXECS.replace("sys.stdin.readline()", "import select\nwhile not select.select([sys.stdin], [], [], 0.01)[0]: pass")
    with running("/usr/bin/python3", "-c", script, workload("spin_two_to_one"), stdin=subprocess.PIPE) as process:
        with attached(process.pid, "--via", "inject", "--eject") as service:
            until(lambda: seen_by(service), "a sample")
            process.stdin.write("\n")
            process.stdin.flush()
            until(lambda: os.readlink(f"/proc/{process.pid}/exe").endswith("spin_two_to_one"), "its exec")
        assert process.poll() is None and is_left_alone(process.pid)
        assert "isoscope" not in Path(f"/proc/{process.pid}/maps").read_text().replace(workload("spin_two_to_one"), "")


# ---- whose files are elsewhere ----

def test_a_program_whose_file_was_deleted_keeps_its_names(scheme, tmp_path):
    copy = tmp_path / "copied"
    shutil.copy(workload("spin_two_to_one"), copy)
    with running(str(copy), "600", ready=False) as process:
        copy.unlink()
        with attached(process.pid, "--via", scheme) as service:
            until(lambda: any("spin_twice" in sample.stack for sample in seen_by(service)), "its function's name")


def test_a_program_in_another_root_mount_and_network_namespace_keeps_its_names(scheme, tmp_path):
    if os.geteuid() or subprocess.run(["unshare", "--mount", "--net", "true"], capture_output=True).returncode:
        pytest.skip("only root may make namespaces here")
    shutil.copy(workload("deadlock_static"), tmp_path / "hidden")
    with running("unshare", "--mount", "--net", "chroot", str(tmp_path), "/hidden") as process:
        with attached(process.pid, "--via", scheme) as service:
            until(lambda: any("spin" in sample.stack for sample in seen_by(service)), "a name")
        if not no_injection():
            assert f"process {process.pid} does not see" in refused("inject", process.pid)
        assert process.poll() is None and is_left_alone(process.pid)


def test_a_program_in_a_user_namespace_is_as_any_other(via):
    """There it is root, here its user."""
    if subprocess.run(["unshare", "--user", "--map-root-user", "true"], capture_output=True).returncode:
        pytest.skip("no user namespaces here")
    with running("unshare", "--user", "--map-root-user", "/usr/bin/python3", "-c",
                 "import os\nprint('ready', flush=True)\ndef inner():\n    os.getppid(); return sum(range(5000))\nwhile True: inner()") as process:
        with attached(process.pid, "--via", via) as service:
            until(lambda: seen_by(service), "a sample")
            with Client(service.uri) as client:
                assert "python3" in client.processes()[0].name
        until(lambda: is_left_alone(process.pid), "nobody traces it")


# ---- with many threads ----

MANY = r"""
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static volatile int over;
static void *sleeps(void *context) { pause(); return context; }
__attribute__((noinline)) static void spin(void) { for (volatile long i = 0; i < 1000000; i++) ; }
static void *is_short(void *context) { for (volatile long i = 0; i < 20000; i++) ; return context; }
int main(int argc, char **argv)
{
    long count = atol(argv[1]), made = 0, short_ones = argc > 2;
    pthread_attr_t small;
    pthread_t thread;

    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 65536);
    pthread_attr_setdetachstate(&small, PTHREAD_CREATE_DETACHED);
    while (made < count && pthread_create(&thread, &small, sleeps, NULL) == 0)
        made++;
    puts(made == count ? "ready" : "no room");
    fflush(stdout);
    for (;;) {
        spin();
        getppid();
        if (short_ones && pthread_create(&thread, &small, is_short, NULL) == 0)
            usleep(1000);
    }
}
"""


def test_a_program_with_five_thousand_threads(via, compiled):
    program = compiled("many", MANY, "-O1", "-g", "-pthread")
    process = subprocess.Popen([program, "5000"], stdout=subprocess.PIPE, text=True)
    try:
        if process.stdout.readline() != "ready\n":
            pytest.skip("no room for 5,000 threads here")
        done = attach("--via", via, "--for", "6", "--stats", process.pid)
        bites = {"perf": ("descriptors", "locked memory"), "suspend": (), "inject": ("took more than two seconds", "no thread of process")}
        if done.returncode:
            assert any(words in done.stderr for words in bites[via]), done
        else:
            (delivered,) = [line.split()[2] for line in done.stderr.splitlines() if "delivered" in line]
            if delivered == "0":  # on a busy machine a thread is held for long, and so only now and then
                with attached(process.pid, "--via", via) as service:
                    until(lambda: seen_by(service), "a sample")
        assert process.poll() is None and is_left_alone(process.pid)
        assert len(threads_of(process.pid)) == 5001
    finally:
        process.kill()
        process.wait()


def test_threads_that_come_and_go_a_thousand_times_a_second(via, compiled):
    with running(compiled("many", MANY, "-O1", "-g", "-pthread"), "0", "short") as process:
        for _ in range(3):
            done = attach("--via", via, "--for", "1", "--stats", *(("--eject",) if via == "inject" else ()), process.pid)
            assert done.returncode == 0 and "delivered" in done.stderr, done
        with attached(process.pid, "--via", via) as service:
            until(lambda: any("spin" in sample.stack for sample in seen_by(service)), "its first thread")
            if via != "suspend":  # which looks at threads that have used a period
                until(lambda: any("is_short" in sample.stack for sample in seen_by(service)), "one of the short ones")
        assert process.poll() is None
        until(lambda: state_of(process.pid) in "RS" and "\nTracerPid:\t0\n" in Path(f"/proc/{process.pid}/status").read_text(),
              "nobody traces it")
