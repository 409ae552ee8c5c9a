"""`isoscope run --faults`: where memory is touched for the first time."""

from __future__ import annotations

import gzip
import subprocess
from collections import Counter

import pytest

from harness import ISOSCOPE, Client, default_timer, measured, profiled, service_of, serving, until, workload
from pulled import Pulled

pytestmark = pytest.mark.skipif(not default_timer().is_trap, reason="the kernel refuses perf events here")

TOUCHES = workload("touches")
PAGES = 20_000


def of_the_program(text: str) -> dict[str, int]:
    """Page faults of each function, as the program counted them itself."""
    return {name: int(count) for name, count in (line.split() for line in text.splitlines())}


def told(client: Client) -> Counter:
    profile = client.profile(kind="fault")
    found: Counter = Counter()
    for row in profile.samples():
        found[next(frame.function.name for frame in profile.stack(row.node))] += row.weight_us
    return found


def lost(client: Client) -> int:
    """Of all its processes."""
    counters = [client.call("_getCpuSamples", isolateId=isolate["id"], count=1, kind="fault")["_counters"]
                for isolate in client.call("getVM")["isolates"]]
    return sum(one.get("fault_lost", 0) for one in counters)


@measured
def test_each_place_has_its_page_faults():
    """One in ten traps, none by chance; what was lost is said, and stands for ten each."""
    with profiled([TOUCHES, str(PAGES)], "--faults=10", stdout=subprocess.PIPE, text=True) as service:
        with Client(service.uri) as client:
            seen, missing = told(client), 10 * lost(client)
        right = of_the_program("".join(service.process.stdout.readline() for _ in range(2)))
    for name in ("first", "second"):
        assert 0.98 * right[name] - missing <= seen[name] <= 1.02 * right[name]
    assert missing < 0.2 * sum(right.values())


@measured
def test_forked_children_and_threads_have_theirs(tmp_path):
    source, program = tmp_path / "shares.c", tmp_path / "shares"
    source.write_text(SHARES)
    subprocess.run(["cc", "-O1", "-pthread", "-o", program, source], check=True)
    with profiled([str(program)], "--faults=10") as service, Client(service.uri) as client:
        seen, missing = told(client), 10 * lost(client)
    for name in ("in_thread", "in_child"):
        assert 0.98 * PAGES - missing <= seen[name] <= 1.02 * PAGES, (seen, missing)
    assert missing < PAGES  # of twice as many; it is the busy machine that loses them


def test_commands_exports_and_session_files_know_the_kind(tmp_path):
    file, out = tmp_path / "t.isoscope", tmp_path / "t.pb.gz"
    command = [ISOSCOPE, "record", "--quiet", "--faults", "-o", str(file), "--", TOUCHES, str(PAGES)]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    for words in (["tree"], ["bottomup"], ["table"], ["hot"], ["export", "-o", str(out)], ["flame", "-o", f"{out}.svg"]):
        ended = subprocess.run([ISOSCOPE, words[0], "--kind", "fault", *words[1:], str(file)], capture_output=True,
                               text=True, timeout=60)
        assert ended.returncode == 0, ended.stderr
        if words[0] == "tree":
            assert " page faults (± " in ended.stdout and "first" in ended.stdout
    assert b"page_faults" in gzip.decompress(out.read_bytes())
    ended = subprocess.run([ISOSCOPE, "tree", "--kind", "fault", "--unit", "ms", str(file)], capture_output=True, text=True)
    assert ended.returncode == 2 and "leave --unit out" in ended.stderr
    with serving(file) as service, Client(service.uri) as client:
        seen = told(client)
        pulled = Pulled.of(service, "debug/pprof/faults")
    assert set(seen) >= {"first", "second"}
    assert pulled.types == [("samples", "count"), ("page_faults", "count")]
    assert pulled.sums("page_faults")[0] == seen and sum(pulled.sums("samples")[0].values()) < sum(seen.values())


def test_they_are_switched_while_the_program_runs():
    with service_of(["/bin/cat"], "--faults=50", stdin=subprocess.PIPE) as service, Client(service.uri) as client:
        until(client.processes, "the program")
        assert client.flags()["profile_faults"] == "50"
        client.set_flag("profile_faults", "false")
        assert client.flags()["profile_faults"] == "0"
        with pytest.raises(Exception, match="cannot change at runtime"):
            client.set_flag("profile_faults", "7")
        client.set_flag("profile_faults", "true")
        assert client.flags()["profile_faults"] == "50"
        service.process.stdin.close()


def test_a_program_that_was_started_without_says_so():
    with service_of(["/bin/cat"], stdin=subprocess.PIPE) as service:
        with Client(service.uri) as client:
            until(client.processes, "the program")
            with pytest.raises(Exception, match="no program was started with --faults"):
                client.set_flag("profile_faults", "true")
        ended = subprocess.run([ISOSCOPE, "tree", "--kind", "fault", service.uri], capture_output=True, text=True)
        service.process.stdin.close()
    assert ended.returncode != 0 and "start the program with `isoscope run --faults`" in ended.stderr


SHARES = f"""
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#define PAGES {PAGES}
static volatile char *fresh(void)
{{
    char *memory = mmap(0, PAGES * 4096L, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(memory, PAGES * 4096L, MADV_NOHUGEPAGE);
    return memory;
}}
static void spin(void) {{ for (volatile long i = 0; i < 200000000; i++) ; }}
__attribute__((noinline)) static void in_child(volatile char *memory)
{{
    for (long i = 0; i < PAGES; i++) memory[i * 4096] = 1;
}}
__attribute__((noinline)) static void *in_thread(void *memory)
{{
    for (long i = 0; i < PAGES; i++) ((volatile char *)memory)[i * 4096] = 1;
    return 0;
}}
int main(void)
{{
    pthread_t thread;
    spin(); /* the unwind tables are there by then */
    pthread_create(&thread, 0, in_thread, (void *)fresh());
    pthread_join(thread, 0);
    if (fork() == 0) {{
        spin();
        in_child(fresh());
        _exit(0);
    }}
    wait(0);
    return 0;
}}
"""
