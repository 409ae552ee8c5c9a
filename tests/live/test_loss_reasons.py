"""What --stats gives as a reason for a lost sample, a cut stack or a slower timer is the cause, which
each of these brings about; and no other reason is given.

`cause_of` marks which reason a test is of; tests/structure/test_reasons.py asks for one of each.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
from contextlib import contextmanager
from typing import Iterator, NamedTuple

import pytest
from harness import BUILD, DEADLINE_S, ISOSCOPE, Client, children, cpu_s, end, service_pid, until

REFUSE = str(BUILD / "tests" / "torture" / "refuse")
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]

# Each does one thing, for 0.3 s of CPU time; some for as long as is said, or until they are ended.
DOES = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

static double used_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec + now.tv_nsec / 1e9;
}

static void *spin(void *seconds)
{
    double end = used_s() + (seconds ? *(double *)seconds : 0.3);
    while (used_s() < end)
        for (volatile int i = 0; i < 20000; i++)
            ;
    return NULL;
}

static double deep_s;

__attribute__((noinline)) static int deep(int depth)
{
    volatile char wide[2048];
    wide[depth % 2048] = 1;
    return (depth ? deep(depth - 1) : (spin(&deep_s), 0)) + wide[depth % 2048];
}

/* On a stack that no thread has: each word of it is read by the kernel, which takes much longer. */
static void deep_elsewhere(void)
{
    static ucontext_t here, there;
    enum { BYTES = 16 << 20 };
    getcontext(&there);
    there.uc_stack.ss_sp = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                                -1, 0);
    there.uc_stack.ss_size = BYTES;
    there.uc_link = &here;
    makecontext(&there, (void (*)(void))deep, 1, 2000);
    swapcontext(&here, &there);
}

/* Without libc, which the sampler would hear of. */
static void own_mask(unsigned long *set, unsigned long *before)
{
    register unsigned long size __asm__("r10") = 8;
    long result = 14; /* rt_sigprocmask */
    __asm__ volatile("syscall" : "+a"(result) : "D"(SIG_SETMASK), "S"(set), "d"(before), "r"(size)
                     : "rcx", "r11", "memory");
}

static void blocks(double seconds)
{
    unsigned long all = -1ul, before;
    own_mask(&all, &before);
    spin(&seconds);
    own_mask(&before, &all);
    spin(NULL);
}

static void sandboxed(void)
{
    struct sock_filter allow = { BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW };
    struct sock_fprog filter = { 1, &allow };
    spin(NULL);
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
    spin(NULL);
}

__attribute__((noinline)) static int sleeps_deep(int depth)
{
    volatile int below = depth ? sleeps_deep(depth - 1) : 0;
    while (!depth)
        usleep(50);
    return below + 1;
}

static void *short_sleeps(void *unused)
{
    sleeps_deep(400);
    return unused;
}

static void sleeps(void)
{
    pthread_t threads[8];
    for (int i = 0; i < 8; i++)
        pthread_create(&threads[i], NULL, short_sleeps, NULL);
    for (int i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
}

/* Threads whose stacks are there, and no room for anything more. */
static void without_room(void)
{
    struct rlimit little = { 0, RLIM_INFINITY };
    FILE *file;
    enum { THREADS = 32, BYTES = 1 << 18 };
    char *stacks = mmap(NULL, THREADS * BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                        -1, 0);
    pthread_t threads[THREADS];
    pthread_attr_t attr;

    spin(NULL);
    pthread_attr_init(&attr);
    file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%lu", &little.rlim_cur) != 1)
        exit(4);
    little.rlim_cur = little.rlim_cur * 4096 + (2 << 20); /* of 32 rings some 8 */
    setrlimit(RLIMIT_AS, &little);
    for (int i = 0; i < THREADS; i++) {
        pthread_attr_setstack(&attr, stacks + i * BYTES, BYTES);
        if (pthread_create(&threads[i], &attr, spin, NULL))
            exit(3);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

/* jmp to itself, in memory that no library has. */
static void in_memory(void)
{
    unsigned char *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
                               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(code, "\xff\xcf\x75\xfc\xc3", 5); /* dec edi; jnz; ret */
    for (double end = used_s() + 0.3; used_s() < end;)
        ((void (*)(int))code)(10000000);
}

#define COUNTS(name, cfi)                                                                          \
    __asm__(".text\n.type " #name ",@function\n" #name ":\n" cfi                                  \
            "1: dec %edi\n jnz 1b\n ret\n");                                                       \
    void name(int)
COUNTS(without_data, "");
__asm__(".text\nno_rule: .cfi_startproc\n .cfi_def_cfa %xmm0, 8\n"
        "1: dec %edi\n jnz 1b\n ret\n .cfi_endproc\n"
        "no_growth: .cfi_startproc\n .cfi_def_cfa %rsp, 0\n"
        " lea 1f(%rip), %rax\n mov %rax, -8(%rsp)\n"
        "1: dec %edi\n jnz 1b\n ret\n .cfi_endproc\n"
        "no_stack: .cfi_startproc\n .cfi_def_cfa %rsi, 8\n"
        "1: dec %edi\n jnz 1b\n ret\n .cfi_endproc\n");
void no_rule(int), no_growth(int), no_stack(int, void *);

static void ticks_in(void (*code)(int, void *), void *argument)
{
    for (double end = used_s() + 0.3; used_s() < end;)
        code(10000000, argument);
}

/* Another process is its tracer, and lets it go on. */
static void traced(void)
{
    int ready[2], status;
    char c;
    pid_t child;
    if (pipe(ready))
        exit(2);
    child = fork();
    if (child == 0) {
        (void)!read(ready[0], &c, 1);
        execl("/proc/self/exe", "does", "spin", NULL);
        _exit(2);
    }
    ptrace(PTRACE_SEIZE, child, 0, 0);
    (void)!write(ready[1], "x", 1);
    while (waitpid(child, &status, 0) == child && WIFSTOPPED(status))
        ptrace(PTRACE_CONT, child, 0, WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status));
}

int main(int argc, char **argv)
{
    const char *what = argv[1];
    double seconds = argc > 2 ? atof(argv[2]) : 0.3;

    if (!strcmp(what, "spin")) spin(&seconds);
    if (!strcmp(what, "deep")) { deep_s = seconds; deep(2000); }
    if (!strcmp(what, "deep_elsewhere")) { deep_s = seconds; deep_elsewhere(); }
    if (!strcmp(what, "blocks")) blocks(seconds);
    if (!strcmp(what, "sandboxed")) sandboxed();
    if (!strcmp(what, "sleeps")) sleeps();
    if (!strcmp(what, "without_room")) without_room();
    if (!strcmp(what, "in_memory")) in_memory();
    if (!strcmp(what, "without_data")) ticks_in((void (*)(int, void *))without_data, NULL);
    if (!strcmp(what, "no_rule")) ticks_in((void (*)(int, void *))no_rule, NULL);
    if (!strcmp(what, "no_growth")) ticks_in((void (*)(int, void *))no_growth, NULL);
    if (!strcmp(what, "no_stack")) ticks_in(no_stack, (void *)4096);
    if (!strcmp(what, "traced")) traced();
    if (!strcmp(what, "undumpable"))
        for (prctl(PR_SET_DUMPABLE, 0);; usleep(300000))
            spin(NULL);
    return 0;
}
"""


class Stats(NamedTuple):
    """The texts that --stats gives, each with its count."""

    timers: set[str]
    lost: dict[str, int]
    stacks: dict[str, int]


def of(stderr: str) -> Stats:
    rows = re.findall(r"^isoscope:   (timer|lost|stacks) +(\d+)?  ?(.*)$", stderr, re.MULTILINE)
    return Stats({text.strip() for word, _, text in rows if word == "timer"},
                 {text: int(count) for word, count, text in rows if word == "lost"},
                 {text: int(count) for word, count, text in rows if word == "stacks" and count})


# A tick before the first tables is lost, and a busy machine's ticks cost a thread too much, in any.
ALWAYS = ("the unwind tables were not built yet", "throttled: sampling took too much")


def only(given: dict[str, int], *texts: str) -> None:
    """These reasons, and of others those that may come in any program."""
    for text in texts:
        assert any(text in one for one in given), given
    for one in given:
        assert any(text in one for text in (*texts, *ALWAYS)), given


def cause_of(*reasons: str):
    """For tests/structure/test_reasons.py."""
    assert reasons
    return lambda test: test


@pytest.fixture
def does(compiled):
    program = compiled("does", DOES, "-O1", "-g", "-pthread")

    def run(*words: str, options: tuple[str, ...] = (), before: tuple[str, ...] = (), **popen):
        command = [*before, ISOSCOPE, "run", "--quiet", "--stats", *options, "--", program, *words]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=5 * DEADLINE_S,
                               check=False, **popen)  # fmt: skip
        if ended.returncode == 77 and before:
            pytest.skip("may not filter system calls")
        assert ended.returncode == 0, ended.stderr
        return of(ended.stderr)

    run.program = program
    return run


ENDLESS_S = "100000"


def told(client: Client) -> list[dict]:
    """What the service tells of the program: once for each time that it has said hello, as it does
    again when nobody has read for seconds."""
    processes = until(client.processes, "the program")
    return [client.call("getIsolate", isolateId=one.id)["_process"] for one in processes]


def has_lost(client: Client, reason: str) -> bool:
    return any(process["counters"][f"lost_{reason}"] for process in told(client))


@contextmanager
def started(said: list[str], command: list[str], **popen) -> Iterator[subprocess.Popen]:
    """An isoscope that the block looks at; then it is ended, and said has what it says at the end."""
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, **popen)
    try:
        yield process
        process.terminate()
        said.append(process.communicate(timeout=5 * DEADLINE_S)[1])
    finally:
        end(process)


@pytest.fixture
def until_lost(does, tmp_path):
    """A program that runs until something is lost for that reason: the texts at its end."""

    def run(reason: str, *words: str, options: tuple[str, ...] = ()) -> Stats:
        said: list[str] = []
        info = tmp_path / "info.json"
        command = [ISOSCOPE, "run", "--quiet", "--stats", "--write-service-info", str(info), *options,
                   "--", does.program, *words, ENDLESS_S]  # fmt: skip
        with started(said, command):
            until(info.exists, "the service")
            with Client(json.loads(info.read_text())["uri"]) as client:
                until(lambda: has_lost(client, reason), "the loss", 5 * DEADLINE_S)
        return of(said[0])

    return run


# Timers


def has_traps(does) -> bool:
    return does("spin").timers == {"sigtrap"}


@cause_of("timer:asked")
def test_cpu_timers_that_were_asked_for(does):
    told = does("spin", options=("--timer", "cpu"))
    assert told.timers == {"cpu-timer alone: --timer cpu"}
    only(told.lost)


@cause_of("timer:no_room")
@pytest.mark.parametrize("error", ["EMFILE", "ENOMEM"])
def test_no_descriptor_or_memory_for_the_clock(does, error):
    told = does("spin", before=(REFUSE, "perf", error))
    assert told.timers == {
        "cpu-timer alone: the kernel refused perf events (no descriptor or memory was free)"}


@cause_of("timer:signal")
def test_a_program_that_ignores_sigtrap(does):
    if not has_traps(does):
        pytest.skip("perf is refused")
    told = does("spin", preexec_fn=lambda: signal.signal(signal.SIGTRAP, signal.SIG_IGN))
    assert told.timers == {"cpu-timer alone: the program ignores SIGTRAP, or sets signal handlers "
                           "without libc"}


@cause_of("timer:traced")
def test_a_program_that_begins_with_a_tracer(does):
    if not has_traps(does):
        pytest.skip("perf is refused")
    told = does("traced")
    assert "cpu-timer alone: a debugger is attached" in told.timers
    assert told.timers <= {"cpu-timer alone: a debugger is attached", "sigtrap"}


# Losses


@contextmanager
def stopped_service(said: list[str], lost: str, info, program: list[str], *options: str) -> Iterator[int]:
    """The service of an endless program stands still until the block ends; then it has time to count
    what was lost. said: as of started."""
    command = [ISOSCOPE, "run", "--quiet", "--stats", "--write-service-info", str(info), *options, "--",
               *program]  # fmt: skip
    with started(said, command) as process:
        until(info.exists, "the service")
        service = os.pidfd_open(service_pid(process.pid))
        with Client(json.loads(info.read_text())["uri"]) as client:
            (running,) = until(lambda: children(process.pid), "the program")
            until(lambda: cpu_s(running) > 0.1 and told(client), "a program that runs")
            signal.pidfd_send_signal(service, signal.SIGSTOP)
            try:
                yield running
            finally:
                signal.pidfd_send_signal(service, signal.SIGCONT)
                os.close(service)
            until(lambda: has_lost(client, lost), "the loss")


@cause_of("loss:ring_full")
def test_a_service_that_stands_still(does, tmp_path):
    """A ring holds some 60 of stacks that are 512 frames deep."""
    if not has_traps(does):
        pytest.skip("perf is refused: ticks of 4 ms are too few")
    said: list[str] = []
    with stopped_service(said, "ring_full", tmp_path / "info.json",
                         [does.program, "deep", ENDLESS_S]) as program:
        begun = cpu_s(program)
        until(lambda: cpu_s(program) > begun + 1.5, "CPU time", 5 * DEADLINE_S)
    only(of(said[0]).lost, "the thread's ring was full: the service reads too slowly")


@cause_of("loss:overrun")
def test_a_thread_that_blocks_all_signals(does):
    """For longer than the rounds that its next sample can tell of."""
    told = does("blocks", "5", options=("--mode", "wall"))
    only(told.lost, "a thread ran without being interrupted: it blocks signals, or is in the kernel")


@cause_of("loss:sandboxed")
def test_a_program_that_takes_a_filter(does):
    told = does("sandboxed")
    only(told.lost, "the program sandboxed itself (seccomp), which ended sampling")


@cause_of("loss:no_slot")
def test_threads_without_room_for_their_rings(does):
    told = does("without_room")
    only(told.lost, "no free slot or memory for another thread")


@cause_of("loss:throttled")
def test_ticks_that_cost_too_much(does, until_lost):
    """Whatever the machine: of a stack that is read through the kernel a tick takes far longer than
    the shortest period."""
    if not has_traps(does):
        pytest.skip("perf is refused: ticks of 4 ms are too few")
    told = until_lost("throttled", "deep_elsewhere", options=("--period", "50", "--depth", "1024"))
    only(told.lost, "throttled: sampling took too much of a thread's time, so its period was made longer",
         *(text for text in told.lost if "ring was full" in text))


@cause_of("loss:late")
def test_rounds_of_wall_mode_for_which_the_service_stood_still(does, tmp_path):
    """What threads that wake and sleep did meanwhile cannot be known."""
    said: list[str] = []
    with stopped_service(said, "late", tmp_path / "info.json", [does.program, "sleeps"], "--mode",
                         "wall") as program:  # fmt: skip
        begun = cpu_s(program)
        until(lambda: cpu_s(program) > begun + 0.5, "CPU time", 5 * DEADLINE_S)
    only(of(said[0]).lost, "the service was too late for a round of wall mode",
         *(text for text in of(said[0]).lost if "woke up while" in text))


@contextmanager
def as_nobody(does, folder, said: list[str], *words: str) -> Iterator[Client]:
    """A program of user 65534 that is not dumpable: its service's client; said: as of started."""
    folder.chmod(0o777)
    environment = {**os.environ, "HOME": str(folder), "TMPDIR": str(folder)}
    environment.pop("XDG_RUNTIME_DIR", None)
    program, info = folder / "does", folder / "info.json"
    shutil.copy(does.program, program)
    if subprocess.run([*NOBODY, ISOSCOPE, "run", "--quiet", "true"], capture_output=True,
                      env=environment, check=False).returncode:
        pytest.skip("another user may not run what was built here")
    command = [*NOBODY, ISOSCOPE, "run", "--quiet", "--stats", "--write-service-info", str(info),
               *words, "--", str(program), "undumpable"]  # fmt: skip
    with started(said, command, env=environment) as process:
        until(lambda: info.exists() and cpu_s(process.pid) > 0.3, "a program that runs")
        with Client(json.loads(info.read_text())["uri"]) as client:
            yield client


@cause_of("loss:no_rights")
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_a_sleeper_that_may_not_be_looked_at(does, short_path):
    said: list[str] = []
    with as_nobody(does, short_path, said, "--mode", "wall") as client:
        until(lambda: has_lost(client, "no_rights"), "a round while it sleeps")
    stats = of(said[0])
    assert any("the kernel does not let isoscope read its stack" in text for text in stats.lost), stats
    assert not any("refused a timer" in text for text in stats.lost), stats


@cause_of("timer:rights")
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_a_shorter_period_for_a_program_that_may_not_be_looked_at(does, short_path):
    """Its own event is of the period it began with; another one only the service could open."""
    if not has_traps(does):
        pytest.skip("perf is refused")
    said: list[str] = []
    with as_nobody(does, short_path, said, "--period", "2000") as client:
        client.call("setFlag", name="profile_period", value="500")
        until(lambda: told(client)[-1]["timer"] == "cpu-timer", "the timers alone")
    assert of(said[0]).timers == {"cpu-timer alone: isoscope is not allowed to open perf events for "
                                  "it: it has other rights, or is not dumpable"}


# Stacks


@pytest.mark.parametrize("what, options, text", [
    ("deep", ("--depth", "16"), "truncated: deeper than the limit (--depth)"),
    ("in_memory", (), "truncated: a pc lies in no known library"),
    ("without_data", (), "truncated: a pc has no unwind data"),
    ("no_rule", (), "truncated: the unwind rule cannot be followed, or needs a register that was not saved"),
    ("no_growth", (), "truncated: the stack pointer did not grow"),
    ("no_stack", (), "truncated: a word of the stack cannot be read"),
])  # fmt: skip
@cause_of("end:depth", "end:no_module", "end:no_row", "end:rule", "end:stack", "end:loop")
def test_why_stacks_end(does, what, options, text):
    if os.uname().machine != "x86_64" and what != "deep":
        pytest.skip("its code is x86's")
    told = does(what, options=options)
    whole = "complete: they reach the thread's start"
    assert told.stacks.get(text, 0) >= 0.7 * sum(told.stacks.values()), told
    other = sum(count for one, count in told.stacks.items() if one not in (text, whole))
    assert other <= 0.1 * sum(told.stacks.values()), told  # of libraries that are not known yet
