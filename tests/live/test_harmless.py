"""Programs that a preloaded library, or its memory, could break."""

from __future__ import annotations

import re
import resource
import shutil
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
    assert f"{musl_program} is a program for musl" in ended.stderr


def test_a_program_for_musl_runs_as_a_child_of_one_that_is_sampled(run, musl_program):
    ended = run(["sh", "-c", f"{musl_program}; echo $?"], "--quiet")
    assert (ended.stdout, said(ended.stderr)) == ("done\n1\n", [])


def test_a_program_with_gccs_address_sanitizer_starts_and_is_sampled(run, compiled):
    program = compiled("sanitized", WORKS, "-g", "-fsanitize=address")
    ended = run([program], "--quiet", "--stats")
    assert (ended.stdout, ended.returncode) == ("done\n", 1)
    assert sampled(ended.stderr) > 10


def test_what_runs_below_valgrind_is_left_alone(run, compiled):
    if not shutil.which("valgrind"):
        pytest.skip("needs valgrind")
    ended = run(["valgrind", "-q", compiled("small", "int main(void) { return 7; }")], "--quiet")
    assert (ended.returncode, said(ended.stderr)) == (7, [])


@pytest.mark.parametrize("megabytes", [8, 64, 1000, 4096])
def test_a_limit_of_files_leaves_the_program_alive_and_sampled(run, compiled, megabytes):
    program = compiled("works", WORKS)
    ended = run([program], "--quiet", "--stats", preexec_fn=limit_files(megabytes << 20))
    assert (ended.stdout, ended.returncode) == ("done\n", 1)
    assert sampled(ended.stderr) > 10


def test_where_no_file_may_be_written_the_program_runs_without_a_sampler(run, compiled):
    ended = run([compiled("works", WORKS)], "--quiet", preexec_fn=limit_files(1024))
    assert (ended.stdout, ended.returncode) == ("done\n", 1)
    assert "there is no room for unwind tables" in ended.stderr
    assert "limit its files (ulimit -f)" in ended.stderr


def test_limited_address_space_is_the_programs(run):
    """Of two GB it gets 1.3 at once."""
    program = "print(len(bytearray(1300 << 20))); sum(i * i for i in range(3_000_000))"
    ended = run(["sh", "-c", 'ulimit -v 2000000; exec "$0" -c "$1"', sys.executable, program],
                "--quiet", "--stats")
    assert ended.stdout == f"{1300 << 20}\n"
    assert sampled(ended.stderr) > 10
