"""What must not happen to a program because it is sampled."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import time
from pathlib import Path

import pytest
from harness import BUILD, children, end, is_service, service_pid, until, workload

# Each prints "ready", waits for a line, works on for half a CPU second, and prints "done".
WORK_ON = r"""
#include <stdio.h>
#include <time.h>
static volatile unsigned long sum;
int main(void)
{
    puts("ready");
    fflush(stdout);
    getchar();
    while (clock() < CLOCKS_PER_SEC)
        sum++;
    puts("done");
    return 7;
}
"""

# The main thread leaves first; libc must still end the process when the last thread does.
MAIN_LEAVES_FIRST = r"""
#include <pthread.h>
#include <stdio.h>
#include <time.h>
static void *last(void *unused)
{
    volatile unsigned long sum = 0;
    while (clock() < CLOCKS_PER_SEC / 4)
        sum++;
    puts("last");
    return unused;
}
int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, last, NULL);
    pthread_exit(NULL);
}
"""

# exec while ticks rain: one that was sent just before must not kill the new program.
EXECS = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int count, char **words)
{
    int left = atoi(words[1]);
    volatile unsigned long sum = 0;
    char text[16];
    for (int i = 0; i < 300000; i++)
        sum++;
    if (left == 0)
        return puts("through") < 0;
    snprintf(text, sizeof text, "%d", left - 1);
    execl(words[0], words[0], text, (char *)NULL);
    return count;
}
"""

# Pipes: the reader waits for the end of file, which a forgotten copy of the writing end withholds.
PIPE_ENDS = r"""
#include <stdio.h>
#include <unistd.h>
int main(void)
{
    int ends[2];
    char byte;
    if (pipe(ends) < 0 || write(ends[1], "x", 1) != 1)
        return 1;
    close(ends[1]);
    while (read(ends[0], &byte, 1) > 0)
        ;
    printf("%d %d\n", ends[0], ends[1]);
    return 0;
}
"""

THREADS_COME_AND_GO = r"""
#include <pthread.h>
#include <stdio.h>
static void *brief(void *sum)
{
    for (volatile int i = 0; i < 20000; i++)
        ;
    __atomic_fetch_add((int *)sum, 1, __ATOMIC_RELAXED);
    return NULL;
}
int main(void)
{
    int sum = 0;
    for (int round = 0; round < 500; round++) {
        pthread_t threads[4];
        for (int i = 0; i < 4; i++)
            if (pthread_create(&threads[i], NULL, brief, &sum))
                return 1;
        for (int i = 0; i < 4; i++)
            pthread_join(threads[i], NULL);
    }
    printf("%d\n", sum);
    return 0;
}
"""


def test_a_program_runs_on_when_its_service_is_killed(start, compiled):
    running = start([compiled("work_on", WORK_ON)])
    assert running.line() == "ready"
    os.kill(running.process.pid, signal.SIGKILL)
    running.process.wait(timeout=10)
    running.process.stdin.write("\n")
    running.process.stdin.flush()
    assert running.line() == "done"


def test_a_program_whose_service_is_nowhere_runs_untouched():
    """As a child does that outlives its service: the environment still names the socket."""
    environment = {**os.environ, "LD_PRELOAD": str(BUILD / "lib/libisoscope.so"),
                   "ISOSCOPE_SOCKET": "/nowhere/feed"}
    ended = subprocess.run(["/bin/sh", "-c", "echo out; echo err >&2; exit 3"],
                           capture_output=True, text=True, env=environment, timeout=60)
    assert (ended.stdout, ended.stderr, ended.returncode) == ("out\n", "err\n", 3)


def seconds_to_start(environment) -> float:
    began = time.monotonic()
    subprocess.run(["/bin/true"], check=True, env=environment, timeout=60)
    return time.monotonic() - began


def test_no_start_waits_for_a_service_that_stands_still(tmp_path):
    """Its queue is full. The fastest of many, for this machine may be busy."""
    path = str(tmp_path / "feed")
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener, \
         socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as waiting:
        listener.bind(path)
        listener.listen(0)
        waiting.connect(path)
        environment = {**os.environ, "LD_PRELOAD": str(BUILD / "lib/libisoscope.so"),
                       "ISOSCOPE_SOCKET": path}
        assert min(seconds_to_start(environment) for _ in range(20)) < 0.04


def test_the_last_thread_ends_the_process(run, compiled):
    ended = run([compiled("main_leaves_first", MAIN_LEAVES_FIRST, "-pthread")], "--quiet")
    assert (ended.stdout, ended.returncode) == ("last\n", 0)


def test_no_tick_kills_an_execd_program(run, compiled):
    ended = run([compiled("execs", EXECS, "-O1"), "200"], "--quiet", "--period", "50")
    assert (ended.stdout, ended.returncode) == ("through\n", 0)


def test_descriptors_are_the_programs_own(run, compiled):
    program = compiled("pipe_ends", PIPE_ENDS)
    assert run([program], "--quiet").stdout == "3 4\n"


def test_a_core_of_the_program_leaves_out_the_feed(run):
    """Most of which was never there."""
    maps = run(["cat", "/proc/self/smaps"]).stdout
    feeds = re.findall(r"isoscope-feed.*?VmFlags: ([a-z ]*)", maps, re.DOTALL)
    assert feeds and all("dd" in feed.split() for feed in feeds)


def test_short_threads_come_and_go(run, compiled):
    ended = run([compiled("come_and_go", THREADS_COME_AND_GO, "-pthread")], "--quiet",
                "--period", "100")
    assert (ended.stdout, ended.returncode) == ("2000\n", 0)


def test_a_plugin_is_found_beside_the_program_that_loads_it(run):
    """RUNPATH $ORIGIN is the caller's; a dlopen that came from us would search elsewhere."""
    ended = run([workload("dlopen_plugin"), "0.1"], "--quiet", cwd="/")
    assert ended.returncode == 0, ended.stderr


@pytest.mark.parametrize("limit", ["-v 400000", "-n 16", "-s 256"])
def test_small_limits_are_survived(run, limit):
    script = f"ulimit {limit} && exec /usr/bin/python3 -c 'print(sum(range(3000000)))'"
    ended = run(["/bin/sh", "-c", script], "--quiet")
    assert (ended.stdout, ended.returncode) == ("4499998500000\n", 0), ended.stderr


def test_a_paused_program_is_sampled_when_a_client_says_so(start, compiled):
    running = start([compiled("work_on", WORK_ON)], "--paused", "--keep")
    client = running.connect()
    assert running.line() == "ready"
    isolate = client.rpc("getVM")["isolates"][0]["id"]
    client.rpc("_enableProfiler")
    running.process.stdin.write("\n")
    running.process.stdin.flush()
    assert running.line() == "done"
    until(lambda: client.rpc("_getCpuSamples", isolateId=isolate, timestamp=0,
                             count=10)["samples"], "samples")
    end(running.process)


# The service is a process of its own; what kills it does not touch the program.


def service_failed(running) -> str:
    """isoscope's word for it; a sanitizer's report may stand before."""
    for line in running.process.stderr:
        if "isoscope's service failed, not the program" in line:
            return line
    raise AssertionError("isoscope said nothing of it")


@pytest.mark.parametrize(("end_of_it", "status"), [
    ("return 7;", 7), ("fflush(stdout); raise(SIGUSR1);", -signal.SIGUSR1)
])  # fmt: skip
@pytest.mark.parametrize("options", [(), ("--keep",)])
def test_a_service_that_crashes_is_told_apart_from_its_program(
    start, compiled, end_of_it, status, options
):
    text = "#include <signal.h>\n" + WORK_ON.replace("return 7;", end_of_it)
    running = start([compiled("work_on", text)], "--quiet", *options)
    assert running.line() == "ready"
    os.kill(service_pid(running.process.pid), signal.SIGSEGV)
    assert "the program continues without sampling" in service_failed(running)
    assert running.process.poll() is None
    running.process.stdin.write("\n")
    running.process.stdin.flush()
    assert running.line() == "done"
    assert running.process.wait(60) == status


def test_signals_are_still_passed_on_when_the_service_has_crashed(start):
    program = "trap 'echo heard; exit 5' TERM; echo ready; while :; do sleep 0.1; done"
    running = start(["sh", "-c", program], "--quiet")
    assert running.line() == "ready"
    os.kill(service_pid(running.process.pid), signal.SIGABRT)
    assert "signal 6 (Aborted)" in service_failed(running)
    running.process.terminate()
    assert running.line() == "heard"
    assert running.process.wait(60) == 5


def test_a_service_that_crashes_after_the_programs_end_takes_nothing_from_its_status(start):
    running = start(["sh", "-c", "exit 7"], "--keep")
    running.wait_for_end()
    os.kill(service_pid(running.process.pid), signal.SIGSEGV)
    assert running.process.wait(60) == 7
    assert "had already ended" in service_failed(running)


def test_captured_output_flows_on_when_the_service_has_crashed(start):
    lines = 200_000
    running = start(["sh", "-c", f"echo ready; read go; seq {lines}; echo end >&2"],
                    "--quiet", "--capture-output")  # fmt: skip
    assert running.line() == "ready"
    os.kill(service_pid(running.process.pid), signal.SIGSEGV)
    service_failed(running)
    out, err = running.process.communicate("go\n", timeout=60)
    assert out.split() == [str(n) for n in range(1, lines + 1)]
    assert (err, running.process.returncode) == ("end\n", 0)


def test_a_crashed_service_leaves_no_folder_behind(start, short_path):
    running = start(["sh", "-c", "echo ready; read go"], "--quiet",
                    env={**os.environ, "XDG_RUNTIME_DIR": str(short_path)})  # fmt: skip
    assert running.line() == "ready"
    assert list(short_path.glob("isoscope-*"))
    os.kill(service_pid(running.process.pid), signal.SIGSEGV)
    service_failed(running)
    running.process.communicate("go\n", timeout=60)
    assert not list(short_path.glob("isoscope-*"))


def test_a_service_that_hangs_can_be_ended(start):
    running = start(["true"], "--keep")
    running.wait_for_end()
    serving = service_pid(running.process.pid)
    os.kill(serving, signal.SIGSTOP)
    running.process.terminate()
    assert running.process.wait(60) == 0
    assert "killing it" in running.process.stderr.read()


def test_the_service_goes_with_isoscope(start):
    running = start(["sleep", "1000"])
    serving = service_pid(running.process.pid)
    (program,) = until(lambda: children(running.process.pid), "the program's start")
    running.process.kill()
    running.process.wait(60)
    until(lambda: not is_service(serving), "the service's end")
    os.kill(program, signal.SIGKILL)
