"""Programs that a preloaded library, or its memory, could break."""

from __future__ import annotations

import os
import re
import resource
import shutil
import signal
import subprocess
import sys

import pytest
from harness import NO_PERF_NOTICE

WORKS = """
#include <stdio.h>
int main(int count, char **words)
{
    volatile unsigned long sum = 0;
    for (unsigned long i = 0; i < 150000000; i++)
        sum += i;
    puts("done");
    return count + !words;
}
"""


def limit_files(bytes_max: int):
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (bytes_max, bytes_max))


def said(stderr: str) -> list[str]:
    """But that CPU-time timers tick alone, where perf is refused."""
    return [line for line in stderr.splitlines() if not line.startswith(NO_PERF_NOTICE)]


def sampled(stats: str) -> int:
    match = re.search(r"delivered +(\d+)", stats)
    return int(match.group(1)) if match else 0


@pytest.fixture
def musl_program(tmp_path):
    compiler = shutil.which("musl-gcc") or pytest.skip("needs musl-gcc (musl-tools)")
    source, binary = tmp_path / "musl.c", tmp_path / "musl"
    source.write_text(WORKS)
    subprocess.run([compiler, "-o", str(binary), str(source)], check=True)
    return str(binary)


def test_a_program_for_musl_is_refused_before_it_starts(run, musl_program):
    ended = run([musl_program])
    assert (ended.returncode, ended.stdout) == (125, "")
    assert f"{musl_program} uses musl" in ended.stderr


def test_a_program_for_musl_runs_as_a_child_of_one_that_is_sampled(run, musl_program):
    ended = run(["sh", "-c", f"{musl_program}; echo $?"], "--quiet")
    assert ended.stdout == "done\n1\n"
    for word in said(ended.stderr):
        assert f"{musl_program} (" in word and "is not sampled: it uses musl" in word


def test_a_program_with_gccs_address_sanitizer_starts_and_is_sampled(run, compiled):
    program = compiled("sanitized", WORKS, "-g", "-fsanitize=address")
    ended = run([program], "--quiet", "--stats")
    assert (ended.stdout, ended.returncode) == ("done\n", 1)
    assert sampled(ended.stderr) > 10


def test_what_runs_below_valgrind_is_left_alone(run, compiled):
    if not shutil.which("valgrind"):
        pytest.skip("needs valgrind")
    ended = run(["valgrind", "-q", compiled("small", "int main(void) { return 7; }")], "--quiet")
    assert ended.returncode == 7
    for word in said(ended.stderr):
        assert "is not sampled: it runs under valgrind" in word


@pytest.mark.parametrize("megabytes", [8, 64, 1000, 4096])
def test_a_limit_of_files_leaves_the_program_alive_and_sampled(run, compiled, megabytes):
    program = compiled("works", WORKS)
    ended = run([program], "--quiet", "--stats", preexec_fn=limit_files(megabytes << 20))
    assert (ended.stdout, ended.returncode) == ("done\n", 1)
    assert sampled(ended.stderr) > 10


def test_where_no_file_may_be_written_the_program_runs_without_a_sampler(run, compiled):
    ended = run([compiled("works", WORKS)], "--quiet", preexec_fn=limit_files(1024))
    assert (ended.stdout, ended.returncode) == ("done\n", 1)
    assert "feed.tables: File too large; without this file of unwind tables" in ended.stderr
    assert "limit its file sizes (ulimit -f)" in ended.stderr


def test_limited_address_space_is_the_programs(run):
    """Of two GB it gets 1.3 at once."""
    program = "print(len(bytearray(1300 << 20))); sum(i * i for i in range(3_000_000))"
    ended = run(["sh", "-c", 'ulimit -v 2000000; exec "$0" -c "$1"', sys.executable, program],
                "--quiet", "--stats")
    assert ended.stdout == f"{1300 << 20}\n"
    assert sampled(ended.stderr) > 10


# Locks all that it has and will have, with few rights and a limit, and says what that came to.
LOCKS = """
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static void spin(void)
{
    volatile unsigned long sum = 0;
    for (unsigned long i = 0; i < 150000000; i++)
        sum += i;
}

static void drop_the_right_to_lock(void)
{
    struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
    struct __user_cap_data_struct rights[2];

    syscall(SYS_capget, &head, rights);
    rights[0].effective &= ~(1u << CAP_IPC_LOCK);
    rights[0].permitted &= ~(1u << CAP_IPC_LOCK);
    syscall(SYS_capset, &head, rights);
}

int main(void)
{
    struct rlimit limit = { 8 << 20, 8 << 20 };
    char line[256];
    FILE *status;

    setrlimit(RLIMIT_MEMLOCK, &limit);
    drop_the_right_to_lock();
    spin();
    if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0)
        perror("mlockall");
    spin();
    status = fopen("/proc/self/status", "r");
    while (fgets(line, sizeof line, status))
        if (!strncmp(line, "VmLck", 5) || !strncmp(line, "VmSize", 6))
            fputs(line, stdout);
    return 0;
}
"""


def kilobytes(status: str) -> dict[str, int]:
    return {name: int(count) for name, count in re.findall(r"(\w+):\s+(\d+) kB", status)}


@pytest.mark.parametrize("mode", ["cpu", "wall"])
def test_a_program_locks_its_memory_within_its_limit_and_is_sampled(run, compiled, mode):
    """8 MiB, which Debian gives everybody; what we map is some of it."""
    program = compiled("locks", LOCKS)
    plain = subprocess.run([program], capture_output=True, text=True, check=True)
    ended = run([program], "--quiet", "--stats", "--mode", mode)
    alone, sampled_too = kilobytes(plain.stdout), kilobytes(ended.stdout)
    assert alone["VmLck"] > 0, plain.stderr
    assert "mlockall" not in ended.stderr
    assert sampled(ended.stderr) > 10
    assert 0 < sampled_too["VmLck"] < alone["VmLck"] + 4096
    assert sampled_too["VmSize"] < alone["VmSize"] + 4096


# So many threads have rings that a program must not begin with.
CRASHES = """
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_barrier_t all;

static void *stay(void *unused)
{
    pthread_barrier_wait(&all);
    for (;;)
        pause();
    return unused;
}

int main(void)
{
    pthread_t thread;

    pthread_barrier_init(&all, NULL, 101);
    for (int i = 0; i < 100; i++)
        pthread_create(&thread, NULL, stay, NULL);
    pthread_barrier_wait(&all);
    abort();
}
"""


def core_bytes(folder) -> int:
    """Of the only core in it, which is removed."""
    (core,) = folder.glob("core*")
    size = core.stat().st_size
    core.unlink()
    return size


def dump_cores():
    hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
    resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))


def test_a_core_has_none_of_the_memory_for_samples(run, compiled, tmp_path):
    program, folder = compiled("crashes", CRASHES), tmp_path / "cores"
    folder.mkdir()
    subprocess.run([program], cwd=folder, preexec_fn=dump_cores, check=False)
    if not list(folder.glob("core*")):
        pytest.skip("needs cores written to files (kernel.core_pattern, ulimit -c)")
    plain = core_bytes(folder)
    # Built with a sanitizer, isoscope would forbid cores to itself and to all that it starts.
    options = os.environ.get("ASAN_OPTIONS", "") + ":disable_coredump=0"
    ended = run([program], "--quiet", cwd=folder, preexec_fn=dump_cores,
                env={**os.environ, "ASAN_OPTIONS": options})
    assert ended.returncode == -signal.SIGABRT
    assert core_bytes(folder) < plain + (8 << 20)  # rings of 100 threads are 25 MiB
