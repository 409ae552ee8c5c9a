"""`isoscope run --alloc`: what allocates, what is still there, and programs that notice nothing of it."""

from __future__ import annotations

import contextlib
import math
import os
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest

from harness import (
    ISOSCOPE, NO_PERF_NOTICE, SWITCHES_NOTICE, Client, profiled, service_of, serving, until, workload,
)  # fmt: skip

MEAN = 512 * 1024
MIB = 1 << 20
ALLOCATORS = {
    name: f"/usr/lib/{os.uname().machine}-linux-gnu/{name}"
    for name in ("libjemalloc.so.2", "libtcmalloc_minimal.so.4", "libmimalloc.so.2.0")
}


class Told(NamedTuple):
    """Of one kind."""

    bytes: Counter  # by function
    objects: Counter
    samples: Counter
    lost: int

    @property
    def total(self) -> int:
        return sum(self.bytes.values())


OPERATORS = ("operator new",)


def told(client: Client, kind: str, process=None) -> Told:
    chosen = None if process is None else [process]
    profile = client.profile(kind=kind, processes=chosen)
    told = Told(Counter(), Counter(), Counter(), sum(profile.lost.values()))
    for row, objects in zip(profile.samples(), profile.objects):
        names = [frame.function.name for frame in profile.stack(row.node)]
        name = next(name for name in names if not name.startswith(OPERATORS))
        told.bytes[name] += row.weight_us
        told.objects[name] += objects
        told.samples[name] += 1
    return told


def error(right: float, mean: float = MEAN) -> float:
    """Five standard errors of what is sampled once in mean bytes."""
    return 5 * math.sqrt(right * mean)


def check(seen: float, right: float, lost: int = 0, mean: float = MEAN) -> None:
    """What was lost, while unwind tables were built, is missing."""
    assert right - error(right, mean) - 2 * lost * mean <= seen <= right + error(right, mean), (seen / MIB, right / MIB)


@contextlib.contextmanager
def asked(program, *options, **popen):
    with profiled(program, "--alloc", *options, **popen) as service, Client(service.uri) as client:
        yield client


def test_each_site_has_its_bytes_and_objects():
    with asked([workload("allocates"), "sites"]) as client:
        seen = told(client, "alloc")
        alive = told(client, "live")
    for name, count, size in (("small_one", 1_000_000, 64), ("row", 250_000, 1024), ("large_one", 250, MEAN)):
        check(seen.bytes[name], count * size, seen.lost)
        assert seen.objects[name] == pytest.approx(seen.bytes[name] / size, rel=0.01)
    assert alive.total < 4 * MIB  # what libc itself keeps


def test_twenty_leaks_are_named_beside_what_is_given_back():
    with asked([workload("allocates"), "leaks"]) as client:
        seen = told(client, "live")
    names = [f"leak_{number}" for number in range(20)]
    assert set(names) <= set(seen.bytes)
    check(sum(seen.bytes[name] for name in names), 20 * 8 * MIB, seen.lost)
    assert seen.bytes["row"] == 0


def test_a_smaller_mean_is_nearer_to_the_truth():
    with profiled([workload("allocates"), "leaks"], "--alloc=65536") as service, Client(service.uri) as client:
        seen = told(client, "live")
    check(seen.total, 160 * MIB, seen.lost, 65536)
    assert sum(seen.samples.values()) > 1500


def test_what_one_thread_gets_and_another_gives_back_is_gone():
    with asked([workload("allocates"), "threads"]) as client:
        seen, alive = told(client, "alloc"), told(client, "live")
    check(seen.bytes["row"], 16 * 4 * MIB, seen.lost)
    check(alive.bytes["row"], 2 * MIB, alive.lost)  # of a thread that has ended


def test_of_a_chain_of_reallocs_the_last_one_lives():
    with asked([workload("allocates"), "realloc"]) as client:
        seen, alive = told(client, "alloc"), told(client, "live")
    check(seen.bytes["grow"], 16 * sum(range(16, 1025, 16)) * 1024, seen.lost)
    assert alive.samples["grow"] <= 1
    assert alive.bytes["grow"] < 2 * MIB


def test_a_forked_child_has_its_own():
    with asked([workload("allocates"), "forks"]) as client:
        parent, child = client.processes()
        of_parent, of_child = told(client, "live", parent), told(client, "live", child)
        spent = told(client, "alloc", child)
    check(of_parent.bytes["row"], 4 * MIB, of_parent.lost)  # which the child has given back for itself
    assert not of_parent.bytes["large_one"]
    check(of_child.bytes["large_one"], 32 * MIB, of_child.lost)
    check(spent.bytes["row"], 250 * MIB * 1024 * 1000 / MIB, spent.lost)


FAMILY = r"""
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
enum { MIB = 1 << 20 };
#define PLACE __attribute__((noinline)) static
PLACE char *of_parent(void) { char *place = malloc(MIB); place[0] = 1; return place; }
PLACE char *of_child(void) { char *place = malloc(MIB); place[0] = 2; return place; }
PLACE char *grown_in_child(char *place) { place = realloc(place, 2 * MIB); place[0] = 3; return place; }
static char *blocks[64], *own[16];
static void must(int right) { if (!right) _exit(1); }
static void wait_for(pid_t pid) { int status; must(waitpid(pid, &status, 0) == pid && status == 0); }
static void in_child(void)
{
    pid_t pid;
    for (int i = 0; i < 32; i++) /* what the parent has, and keeps */
        free(blocks[i]);
    for (int i = 32; i < 48; i++)
        blocks[i] = grown_in_child(blocks[i]);
    for (int i = 0; i < 16; i++)
        own[i] = of_child();
    for (int i = 0; i < 8; i++)
        free(own[i]);
    if (!(pid = fork())) {
        for (int i = 8; i < 16; i++)
            free(own[i]);
        for (int i = 32; i < 64; i++)
            free(blocks[i]);
        _exit(0);
    }
    wait_for(pid);
    _exit(0);
}
int main(void)
{
    pid_t pid;
    for (int i = 0; i < 64; i++)
        blocks[i] = of_parent();
    if (!(pid = fork()))
        in_child();
    wait_for(pid);
    _exit(blocks[0][0] + blocks[40][0] - 2);
}
"""


def test_what_a_parent_allocated_is_never_the_childs_freed_there_or_not(compiled):
    with asked([compiled("family", FAMILY, "-O1", "-fno-builtin")]) as client:
        pids = {process: int(process.number) for process in client.processes()}
        parent, child, *grandchildren = sorted(pids, key=pids.get)
        alive, spent = ([told(client, kind, one) for one in (parent, child)] for kind in ("live", "alloc"))
        everybody = told(client, "live")
        sites = client.call("getAllocationProfile", isolateId=child.id)["members"]
        assert not any(told(client, "live", one).total for one in grandchildren)
    names = ("of_parent", "of_child", "grown_in_child")
    assert [alive[0].bytes[name] > 0 for name in names] == [True, False, False]
    check(alive[0].bytes["of_parent"], 64 * MIB, alive[0].lost)
    assert [spent[1].bytes[name] > 0 for name in names] == [False, True, True]
    check(spent[1].bytes["of_child"], 16 * MIB, spent[1].lost)
    check(alive[1].bytes["of_child"], 8 * MIB, alive[1].lost)
    check(alive[1].bytes["grown_in_child"], 32 * MIB, alive[1].lost)
    assert alive[1].bytes["of_parent"] == 0
    assert everybody.bytes["of_parent"] == alive[0].bytes["of_parent"]
    for site in sites:
        assert 0 <= site["bytesCurrent"] <= site["accumulatedSize"]
        assert 0 <= site["instancesCurrent"] <= site["instancesAccumulated"]


def test_memory_from_the_kernel_is_seen_and_reserved_addresses_are_not():
    with asked([workload("allocates"), "maps"]) as client:
        seen, alive = told(client, "alloc"), told(client, "live")
    check(seen.bytes["map_one"], 64 * MIB, seen.lost)
    check(alive.bytes["map_one"], 32 * MIB, alive.lost)
    assert seen.total < 1024 * MIB


BREAK = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
enum { MIB = 1 << 20 };
__attribute__((noinline)) char *block(void) { char *place = malloc(64 << 10); place[0] = 1; return place; }
__attribute__((noinline)) char *take_break(void) { char *place = sbrk(MIB); place[0] = 1; return place; }
__attribute__((noinline)) char *set_break(char *to) { int error = brk(to); asm volatile(""); return error ? 0 : to; }
int main(void)
{
    char *blocks[480], *first, *big;
    for (int i = 0; i < 480; i++) /* libc moves the break for them */
        blocks[i] = block();
    first = take_break();
    for (int i = 1; i < 64; i++)
        if (take_break() != first + i * MIB)
            return 1;
    sbrk(-32 * MIB); /* half of them, in one call */
    big = sbrk(0);
    if (big != first + 32 * MIB || !set_break(big + 16 * MIB))
        return 2;
    memset(big, 1, 16 * MIB);
    for (int i = 1; i <= 8; i++) /* half of it, in eight */
        if (!set_break(big + (16 - i) * MIB))
            return 3;
    sbrk(-(1l << 40)); /* there is not that much */
    if (sbrk(0) != big + 8 * MIB)
        return 4;
    _exit(blocks[479][0] == 1 && big[0] == 1 ? 0 : 5);
}
"""


def test_what_the_program_takes_from_the_break_is_seen_and_what_it_gives_back_is_gone(compiled):
    program = compiled("breaks", BREAK, "-O1", "-fno-builtin")
    subprocess.run([ISOSCOPE, "run", "--quiet", "--alloc=1024", "--", program], check=True, timeout=60)
    with asked([program], stdout=subprocess.PIPE) as client:
        seen, alive = told(client, "alloc"), told(client, "live")
    check(seen.bytes["take_break"], 64 * MIB, seen.lost)
    check(alive.bytes["take_break"], 32 * MIB, alive.lost)
    check(seen.bytes["set_break"], 16 * MIB, seen.lost)
    check(alive.bytes["set_break"], 8 * MIB, alive.lost)
    check(seen.bytes["block"], 30 * MIB, seen.lost)
    # What libc moves it by for blocks is not counted beside them.
    others = seen.total - sum(seen.bytes[name] for name in ("take_break", "set_break", "block"))
    assert others < 2 * MIB, seen.bytes


ON_BREAK = r"""
#include <stddef.h>
#include <unistd.h>
/* A malloc as programs bring it: blocks of 64 KiB on the break, the last ones of which are given back. */
enum { BLOCK = 64 << 10, MANY = 4096 };
static char *bottom, *top;
static unsigned char used[MANY];
__attribute__((noinline)) static char *more_core(void)
{
    char *place = sbrk(BLOCK);
    asm volatile("");
    return place == (char *)-1 ? NULL : place;
}
void *malloc(size_t bytes)
{
    if (bytes > BLOCK)
        return NULL;
    for (int i = 0; i < (top - bottom) / BLOCK; i++)
        if (!used[i]) {
            used[i] = 1;
            return bottom + (size_t)i * BLOCK;
        }
    char *place = more_core();
    if (!place)
        return NULL;
    if (!bottom)
        bottom = top = place;
    used[(place - bottom) / BLOCK] = 1;
    top = place + BLOCK;
    return place;
}
void free(void *place)
{
    if (!place)
        return;
    used[((char *)place - bottom) / BLOCK] = 0;
    while (top > bottom && !used[(top - bottom) / BLOCK - 1]) {
        sbrk(-BLOCK);
        top -= BLOCK;
    }
}
void *calloc(size_t count, size_t bytes) { return malloc(count * bytes); } /* new blocks are zeros */
void *realloc(void *place, size_t bytes) { return bytes > BLOCK ? NULL : place ? place : malloc(bytes); }
static void *kept[1024];
int main(void)
{
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < 1024; i++)
            if (!(kept[i] = malloc(BLOCK)))
                return 1;
        for (int i = round < 19 ? 0 : 512; i < 1024; i++)
            free(kept[i]);
    }
    char *now = sbrk(0);
    _exit(now == top && (top - bottom) / BLOCK >= 512 ? 0 : 2);
}
"""


def test_a_malloc_of_the_programs_own_is_seen_by_its_moves_of_the_break(compiled):
    program = compiled("on_break", ON_BREAK, "-O1", "-fno-builtin")
    subprocess.run([ISOSCOPE, "run", "--quiet", "--alloc=1024", "--", program], check=True, timeout=60)
    with asked([program]) as client:
        seen, alive = told(client, "alloc"), told(client, "live")
    check(seen.bytes["more_core"], 20 * 64 * MIB, seen.lost)
    check(alive.bytes["more_core"], 32 * MIB, alive.lost)


POOL = r"""
#include <isoscope/memory.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
enum { MIB = 1 << 20, BLOCK = 2048 };
/* Of a pool whose addresses nobody touches. */
__attribute__((noinline)) static char *pool_take(unsigned long number)
{
    char *place = (char *)0x600000000000ul + number * BLOCK;
    isoscope_allocated(place, BLOCK);
    asm volatile("" : : "r"(place) : "memory");
    return place;
}
int main(int argc, char **argv)
{
    unsigned long count = strtoul(argv[argc - 1], NULL, 10) * (MIB / BLOCK);
    const struct timespec pause = { 0, 20000000 };
    isoscope_memory_thread.random = 20240607;
    for (unsigned long i = 0; i < count; i++) {
        pool_take(i);
        if (i % (MIB / BLOCK) == 0) /* the service has time to read */
            nanosleep(&pause, NULL);
    }
    for (unsigned long i = 0; i < count; i += 3)
        isoscope_freed((char *)0x600000000000ul + i * BLOCK);
    _exit(0);
}
"""


def test_of_a_large_heap_fewer_are_followed_and_their_sum_is_right(compiled):
    """Of a fixed seed; more are sampled than 1/200 of the heap is for."""
    build, sources = Path(ISOSCOPE).parents[1], Path(__file__).parents[2]
    program = compiled("pool", POOL, "-O1", f"-I{sources}/sampler/include", f"-L{build}/lib",
                       f"-Wl,--no-as-needed,-rpath,{build}/lib", "-lisoscope")
    with profiled([program, "210"], "--alloc=16384") as service, Client(service.uri) as client:
        seen = told(client, "alloc")
        profile = client.profile(kind="live")
        rows = [(row.weight_us, objects) for row, objects in zip(profile.samples(), profile.objects)]
    live, sampled = 140 * MIB, 210 * MIB / 2048 * -math.expm1(-2048 / 16384)
    assert sum(seen.samples.values()) + seen.lost == pytest.approx(sampled, rel=0.05)
    assert 500 < len(rows) < sampled * 2 / 3 / 3  # two thinnings
    total, one_error = sum(weight for weight, _ in rows), math.sqrt(sum(w * w * (1 - 1 / n) for w, n in rows if n))
    assert one_error < 0.04 * live
    assert live - 3 * one_error - 2 * seen.lost * 16384 <= total <= live + 3 * one_error, (total / MIB, one_error / MIB, seen.lost)


@pytest.mark.parametrize("name", ALLOCATORS)
def test_other_allocators_keep_their_place(name):
    if not os.path.exists(ALLOCATORS[name]):
        pytest.skip(f"{name} is not installed")
    environment = {**os.environ, "LD_PRELOAD": ALLOCATORS[name]}
    with asked([workload("allocates"), "leaks"], env=environment) as client:
        seen, alive = told(client, "alloc"), told(client, "live")
        maps = {library.name for library in libraries(client)}
    check(sum(n for name, n in alive.bytes.items() if name.startswith("leak_")), 160 * MIB, alive.lost)
    check(seen.bytes["row"], 40 * MIB, seen.lost)
    assert not any(name.startswith("libisoscope") for name in maps)
    assert seen.total < 260 * MIB  # what the allocator maps for itself is not counted beside that


def libraries(client: Client):
    profile = client.profile(kind="alloc")
    return {frame.function.library for frame in profile.frames if frame.function.library}


NEW = r"""
#include <cstdio>
#include <new>
#include <string>
#include <thread>
#include <vector>
struct alignas(64) Wide { char bytes[640]; };
__attribute__((noinline)) char *narrow() { return new char[1000]; }
__attribute__((noinline)) Wide *wide() { return new Wide; }
static void work()
{
    for (int i = 0; i < 50000; i++) {
        char *one = narrow();
        Wide *other = wide();
        asm volatile("" : : "r"(one), "r"(other) : "memory");
        delete[] one;
        delete other;
    }
}
int main()
{
    std::thread thread(work);
    work();
    thread.join();
    try {
        asm volatile("" : : "r"(operator new(1ul << 62)) : "memory");
    } catch (const std::bad_alloc &) {
        puts("bad_alloc");
    }
}
"""


@pytest.mark.parametrize("name", ["", "libjemalloc.so.2", "libtcmalloc_minimal.so.4"])
def test_operator_new_is_counted_once_whoever_has_it(compiled, name):
    if name and not os.path.exists(ALLOCATORS[name]):
        pytest.skip(f"{name} is not installed")
    program = compiled("news", NEW, "-xc++", "-O1", "-fno-builtin", "-pthread", "-Wl,--no-as-needed,-lstdc++")
    environment = {**os.environ, "LD_PRELOAD": ALLOCATORS.get(name, "")}
    with asked([program], env=environment, stdout=subprocess.PIPE) as client:
        seen, alive = told(client, "alloc"), told(client, "live")
    check(seen.bytes["narrow"], 100_000 * 1000, seen.lost)
    check(seen.bytes["wide"], 100_000 * 640, seen.lost)
    assert alive.bytes["narrow"] == alive.bytes["wide"] == 0


OWN = r"""
#include <stdio.h>
#include <string.h>
static char pool[1 << 25];
static unsigned long used;
void *malloc(unsigned long bytes) { void *place = pool + used; used += (bytes + 31) & ~15ul; return place; }
void free(void *place) { (void)place; }
void *calloc(unsigned long count, unsigned long bytes) { return malloc(count * bytes); }
void *realloc(void *place, unsigned long bytes)
{
    void *moved = malloc(bytes);
    return place ? memcpy(moved, place, bytes) : moved;
}
int main(void)
{
    for (int i = 0; i < 20000; i++)
        free(strdup("what the program's own malloc gives"));
    puts("right");
}
"""

TAKES_ADDRESS = r"""
#include <stdlib.h>
void *(*volatile allocate)(size_t) = malloc;
int main(void)
{
    for (int i = 0; i < 20000; i++)
        free(allocate(1000));
    for (volatile long i = 0; i < 100000000; i++) ;
    return 0;
}
"""

HANDLER = r"""
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
static volatile int seen;
static void handle(int number)
{
    char *map = mmap(0, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    map[0] = (char)number;
    munmap(map, 1 << 20);
    seen = 1;
}
int main(void)
{
    struct itimerval often = { { 0, 500 }, { 0, 500 } };
    signal(SIGALRM, handle);
    setitimer(ITIMER_REAL, &often, 0);
    for (int i = 0; i < 300000 || !seen; i++) {
        char *place = malloc(3000 + i % 5000);
        asm volatile("" : : "r"(place) : "memory");
        free(place);
    }
    puts("right");
}
"""

SHORT_OF_MEMORY = r"""
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
int main(void)
{
    struct rlimit limit = { 200 << 20, 200 << 20 };
    char *place = malloc(10), *moved;
    int count = 0, error;
    setrlimit(RLIMIT_AS, &limit);
    while (malloc(1 << 20))
        count++;
    error = errno;
    place[0] = 'x';
    moved = realloc(place, 1ul << 50);
    if (count > 50 && error == ENOMEM && !moved && errno == ENOMEM && place[0] == 'x')
        puts("right");
}
"""


@pytest.mark.parametrize("text", [OWN, HANDLER, SHORT_OF_MEMORY], ids=["its own", "handlers", "short"])
def test_the_program_goes_on_as_without(compiled, run, text):
    program = compiled("goes_on", text, "-O1", "-fno-builtin")
    ended = run([program], "--quiet", "--alloc=1024")
    said = [line for line in ended.stderr.splitlines()
            if NO_PERF_NOTICE not in line and SWITCHES_NOTICE not in line]
    if text is OWN:
        assert len(said) == 1 and "goes_on" in said[0] and "it defines malloc itself" in said.pop()
    assert (ended.returncode, ended.stdout, said) == (0, "right\n", [])


def test_a_program_that_only_takes_mallocs_address_is_sampled(compiled, run):
    """At a fixed address it has a stub of that name."""
    program = compiled("takes_it", TAKES_ADDRESS, "-O1", "-fno-builtin", "-no-pie", "-fno-pie")
    ended = run([program], "--stats", "--alloc=1024")
    assert ended.returncode == 0 and "defines malloc" not in ended.stderr
    assert re.search(r"allocations +\d+  sampled\n", ended.stderr), ended.stderr


def test_a_program_with_a_sanitizer_keeps_its_allocations_to_itself(compiled, run):
    program = compiled("sanitized", SHORT_OF_MEMORY.replace("while (malloc(1 << 20))", "while (0)"),
                       "-fsanitize=address")
    ended = run([program], "--quiet", "--stats", "--alloc=1024", env={**os.environ, "ASAN_OPTIONS":
                "detect_leaks=0:allocator_may_return_null=1"})
    assert "left alone: they have a sanitizer" in ended.stderr
    assert "sampled\n" not in [line[-9:] for line in ended.stderr.splitlines() if "allocations" in line]


def test_sampling_is_switched_while_the_program_runs():
    with service_of([workload("allocates"), "holds"], "--alloc", stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE, text=True) as service, Client(service.uri) as client:
        talk = service.process

        def step() -> None:
            talk.stdin.write("go\n")
            talk.stdin.flush()
            assert talk.stdout.readline() == "done\n"

        step()
        until(lambda: told(client, "alloc").total, "samples")
        client.set_flag("profile_alloc", "false")
        step()  # threads hear of it at their next mebibyte, once a tick has
        step()
        before = told(client, "alloc")
        step()
        assert told(client, "alloc").samples == before.samples
        client.set_flag("profile_alloc", "65536")
        until(lambda: step() or told(client, "alloc").total > before.total, "samples again")
        assert client.flags()["profile_alloc"] == "65536"
        talk.stdin.close()


def test_what_was_started_without_says_so():
    with service_of([workload("allocates"), "holds"], stdin=subprocess.PIPE) as service, Client(service.uri) as client:
        until(client.processes, "the program")
        with pytest.raises(Exception, match="no program was started with --alloc"):
            client.set_flag("profile_alloc", "true")
    ended = subprocess.run([ISOSCOPE, "tree", "--kind", "live", service.uri], capture_output=True, text=True)
    assert ended.returncode != 0


@pytest.mark.skipif(not shutil.which("python3"), reason="there is no python3")
def test_pythons_functions_allocate_too():
    text = "def make(n):\n    return bytearray(n)\ndef grow():\n    return [make(5000) for i in range(40000)]\nx = grow()\nimport os; os._exit(0)"
    with asked(["/usr/bin/python3", "-c", text]) as client:
        profile = client.profile(kind="live")
    grown = sum(row.weight_us for row in profile.samples()
                if "grow" in [frame.function.name for frame in profile.stack(row.node)])
    check(grown, 40000 * 5000, sum(profile.lost.values()))


def test_commands_show_bytes():
    command = [ISOSCOPE, "tree", "--kind", "live", "--unit", "bytes", "--", workload("allocates"), "leaks"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert ended.returncode == 0, ended.stderr
    assert "MiB alive (± " in ended.stdout and "leak_7" in ended.stdout and " MiB " in ended.stdout
    for words in (["--unit", "ms"], ["--weight", "us"]):
        ended = subprocess.run([*command[:4], *words, *command[6:]], capture_output=True, text=True, timeout=120)
        assert ended.returncode != 0 and "use --unit bytes" in ended.stderr


def test_pprof_has_inuse_space(tmp_path):
    out = tmp_path / "live.pb.gz"
    command = [ISOSCOPE, "export", "--kind", "live", "-o", str(out), "--", workload("allocates"), "leaks"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert ended.returncode == 0, ended.stderr
    import gzip
    content = gzip.decompress(out.read_bytes())
    assert b"inuse_space" in content and b"inuse_objects" in content and b"leak_19" in content
    command[5] = str(tmp_path / "a.cpuprofile")
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert ended.returncode != 0 and "cpuprofile has no place for allocations" in ended.stderr


def test_a_recording_keeps_what_was_allocated_and_what_was_never_freed(tmp_path):
    file = tmp_path / "leaks.isoscope"
    command = [ISOSCOPE, "record", "--quiet", "--alloc", "-o", str(file), "--", workload("allocates"), "leaks"]
    subprocess.run(command, check=True, timeout=120)
    with serving(file) as service, Client(service.uri) as client:
        seen, allocated = told(client, "live"), told(client, "alloc")
        (process,) = client.processes()
        sites = client.call("getAllocationProfile", isolateId=process.id)["members"]
    names = [f"leak_{number}" for number in range(20)]
    assert all(seen.bytes[name] for name in names)
    check(sum(seen.bytes[name] for name in names), 20 * 8 * MIB, seen.lost)
    assert allocated.total > seen.total
    assert set(names) <= {site["class"]["name"] for site in sites}
    ended = subprocess.run([ISOSCOPE, "table", "--kind", "live", str(file)], capture_output=True, text=True, timeout=60)
    assert ended.returncode == 0 and "leak_7" in ended.stdout, ended.stderr


def test_a_saved_service_is_the_service(tmp_path):
    file = tmp_path / "saved.isoscope"
    with profiled([workload("allocates"), "leaks"], "--alloc") as service, Client(service.uri) as client:
        subprocess.run([ISOSCOPE, "save", "-o", str(file), service.uri], check=True, timeout=60)
        kinds = {kind: told(client, kind) for kind in ("alloc", "live")}
    with serving(file) as service, Client(service.uri) as client:
        assert {kind: told(client, kind) for kind in kinds} == kinds


def test_diff_shows_what_a_later_moment_leaves_behind():
    with service_of([workload("allocates"), "holds"], "--alloc", stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                    text=True) as service, Client(service.uri) as client:
        for _ in range(2):
            service.process.stdin.write("go\n")
            service.process.stdin.flush()
            assert service.process.stdout.readline() == "done\n"
            until(lambda: told(client, "live").total, "samples")
        profile = client.profile(kind="live")
        middle = (profile.last_us - profile.first_us) / 2e6
        ended = subprocess.run([ISOSCOPE, "diff", "--kind", "live", "--unit", "bytes", "--min", "0", service.uri,
                                "--before", f"0,{middle}", "--after", f"{middle},999"], capture_output=True, text=True)
        service.process.stdin.close()
    assert ended.returncode == 0, ended.stderr
    assert " MiB (" in ended.stdout


def test_functions_that_allocate_stand_in_the_place_of_classes():
    with asked([workload("allocates"), "threads"]) as client:
        (process,) = client.processes()
        for method in ("getAllocationProfile", "_getAllocationProfile"):
            members = client.call(method, isolateId=process.id)["members"]
            (row,) = [one for one in members if one["class"]["name"] == "row"]
            lost = told(client, "alloc").lost
            check(row["accumulatedSize"], 64 * MIB, lost)
            check(row["bytesCurrent"], 2 * MIB, lost)
            assert row["instancesAccumulated"] == pytest.approx(row["accumulatedSize"] / 1024, rel=0.01)
        found = client.call("getObject", isolateId=process.id, objectId=row["class"]["id"])
        assert (found["type"], found["name"]) == ("Class", "row")
        traces = client.call("getAllocationTraces", isolateId=process.id)
        assert traces["sampleCount"] == sum(told(client, "alloc").samples.values())
        client.call("getAllocationProfile", isolateId=process.id, reset=True)
        (row,) = [one for one in client.call("getAllocationProfile", isolateId=process.id)["members"]
                  if one["class"]["name"] == "row"]
        assert row["accumulatedSize"] == 0 and row["bytesCurrent"] > 0


def test_where_allocations_are_not_sampled_there_are_no_such_functions():
    with profiled([workload("allocates"), "threads"]) as service, Client(service.uri) as client:
        (process,) = client.processes()
        assert client.call("getAllocationProfile", isolateId=process.id)["members"] == []
        with pytest.raises(Exception, match="Allocations are not sampled"):
            client.call("getAllocationTraces", isolateId=process.id)


def test_top_shows_what_is_allocated_and_says_that_what_lives_is_of_one_moment():
    command = [ISOSCOPE, "top", "--kind", "alloc", "-n", "1", "--window", "60", "--unit", "bytes"]
    ended = subprocess.run([*command, "--", workload("allocates"), "leaks"], capture_output=True, text=True, timeout=60)
    assert ended.returncode == 0, ended.stderr
    assert "iB/s allocated" in ended.stdout and "per s" in ended.stdout and "leak_" in ended.stdout
    for words, said in ((["--kind", "live"], "is of one moment"), (["--kind", "alloc", "--unit", "ms"], "use --unit bytes")):
        ended = subprocess.run([ISOSCOPE, "top", *words, "http://127.0.0.1:1/"], capture_output=True, text=True)
        assert ended.returncode == 2 and said in ended.stderr
