"""`isoscope attach --via inject`: the calls that a running program makes go by the sampler, and are put back by --eject."""

from __future__ import annotations

import os
import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from harness import BUILD, ISOSCOPE, Client, attached, no_injection, until
from isoscope.locks import locks_of
from test_inject import GIVEN_UP, Subject, ending, is_as_before

pytestmark = pytest.mark.skipif(bool(no_injection()), reason=no_injection())

PLUGIN = r"""
#include <stdlib.h>
__attribute__((visibility("default"))) void *plugin_grow(void)
{
    void *place = malloc(200000);
    asm volatile("" : : "r"(place) : "memory");
    return place;
}
"""

# Its first thread has a loop that is late now and then; the others wait for each other.
CALLS = r"""
#include <dlfcn.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static volatile sig_atomic_t over;
static void *(*plugin_grow)(void);

static void end(int number) { (void)number; over = 1; }
static void *hold(void *unused)
{
    while (!over) {
        pthread_mutex_lock(&queue_lock);
        usleep(3000);
        pthread_mutex_unlock(&queue_lock);
        usleep(1000);
    }
    return unused;
}
static void *wait_for_it(void *unused)
{
    while (!over) {
        pthread_mutex_lock(&queue_lock);
        pthread_mutex_unlock(&queue_lock);
        usleep(500);
    }
    return unused;
}
static void *is_short(void *unused) { return unused; }
__attribute__((noinline)) static void *grow(void)
{
    void *place = malloc(100000);
    asm volatile("" : : "r"(place) : "memory");
    return place;
}
__attribute__((noinline)) static void be_late(void)
{
    struct timespec from, now;
    clock_gettime(CLOCK_MONOTONIC, &from);
    do
        clock_gettime(CLOCK_MONOTONIC, &now);
    while ((now.tv_sec - from.tv_sec) * 1000 + (now.tv_nsec - from.tv_nsec) / 1000000 < 300);
}
int main(int argc, char **argv)
{
    void *kept[16] = { 0 }, *library = NULL;
    unsigned char *theirs = NULL;
    pthread_t threads[3];
    struct epoll_event event;
    int set = epoll_create1(EPOLL_CLOEXEC);

    signal(SIGTERM, end);
    pthread_create(&threads[0], NULL, hold, NULL);
    pthread_create(&threads[1], NULL, wait_for_it, NULL);
    puts("ready");
    fflush(stdout);
    for (unsigned round = 0; !over; round++) {
        epoll_wait(set, &event, 1, 2);
        free(kept[round % 16]);
        kept[round % 16] = grow();
        memset(kept[round % 16], (int)round, 100);
        if (argc > 1 && round % 20 == 19) {
            if (library)
                dlclose(library);
            library = dlopen(argv[1], RTLD_LAZY);
            if (!library || !(plugin_grow = (void *(*)(void))dlsym(library, "plugin_grow")))
                return 3;
        }
        if (plugin_grow) {
            free(theirs);
            theirs = plugin_grow();
            theirs[0] = theirs[100] = 1;
        }
        if (round % 50 == 49) {
            pthread_create(&threads[2], NULL, is_short, NULL);
            pthread_join(threads[2], NULL);
            be_late();
        }
    }
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    puts("cut short: nothing");
    return 0;
}
"""

WAYS = {"bound with the first call": ("-no-pie", "-fno-pie", "-Wl,-z,lazy", "-Wl,-z,relro"),
        "bound at the start": ("-pie", "-fPIE", "-Wl,-z,now", "-Wl,-z,relro"),
        "without stubs": ("-pie", "-fPIE", "-fno-plt", "-Wl,-z,now")}


@pytest.fixture(params=WAYS, ids=list(WAYS))
def program(request, compiled) -> str:
    return str(compiled("calls", CALLS, "-O1", "-g", "-fno-builtin", "-pthread", *WAYS[request.param]))


@pytest.fixture
def plugin(compiled) -> str:
    return str(compiled("plugin.so", PLUGIN, "-O1", "-shared", "-fPIC", "-fno-builtin"))


def functions_of(client, kind: str) -> Counter:
    """What was sampled below each function of the program: bytes, or microseconds."""
    found: Counter = Counter()
    if client.processes():
        profile = client.profile(kind=kind)
        for row in profile.samples():
            for name in {frame.function.name for frame in profile.stack(row.node)}:
                found[name] += row.weight_us
    return found


def has(uri, kind: str, function: str) -> bool:
    with Client(uri) as client:
        return function in functions_of(client, kind)


def stalls_of(uri) -> list[dict]:
    with Client(uri) as client:
        return client.call("_getStalls")["stalls"]


# Its clock is the kernel's page, or libc's way there.
LATE = ("be_late", "clock_gettime", "main")


def test_allocations_waits_for_locks_and_late_loops_are_told_as_under_run(program):
    with Subject(program) as process:
        with attached(process.pid, "--via", "inject", "--alloc=4096", "--lock=10", "--eject") as service:
            until(lambda: has(service.uri, "alloc", "grow"), "an allocation")
            until(lambda: has(service.uri, "live", "grow"), "one that lives")
            until(lambda: has(service.uri, "lock", "wait_for_it"), "a wait for a lock")
            until(lambda: any((stall.get("culprit") or {}).get("function") in LATE for stall in stalls_of(service.uri)), "a stall")
            with Client(service.uri) as client:
                assert any(lock.name == "queue_lock" for lock in locks_of(client.profile(kind="lock")))
        until(lambda: is_as_before(process.pid), "it goes on")
        assert "cut short: nothing" in ending(process)


def test_a_library_that_comes_later_is_heard_of(program, plugin):
    with Subject(program, plugin) as process, attached(process.pid, "--via", "inject", "--alloc=4096") as service:
        until(lambda: has(service.uri, "alloc", "plugin_grow"), "an allocation of the plugin's")
        # All that it gives back is seen, too: what lives is one block, and those of a moment ago.
        with Client(service.uri) as client:
            until(lambda: functions_of(client, "alloc")["plugin_grow"] > 40 * 200_000, "many of them")
            assert functions_of(client, "live")["plugin_grow"] <= 4 * 200_000
        ending(process)


def places_of(program: str, pid: int) -> dict[str, int]:
    """What the slots of the program hold."""
    text = subprocess.run(["readelf", "-rW", program], check=True, capture_output=True, text=True).stdout
    maps = Path(f"/proc/{pid}/maps").read_text().splitlines()
    first = next(int(line.split("-")[0], 16) for line in maps if line.endswith(program))
    slots = {name: int(offset, 16) for offset, name in
             re.findall(r"^([0-9a-f]+) .*R_X86_64_(?:JUMP_SLOT|GLOB_DAT) +[0-9a-f]+ (\w+)@", text, re.M)}
    base = first if min(slots.values()) < first else 0
    with open(f"/proc/{pid}/mem", "rb") as memory:
        def value(offset):
            memory.seek(base + offset)
            return int.from_bytes(memory.read(8), "little")
        return {name: value(offset) for name, offset in slots.items()}


def file_of(pid: int, address: int) -> str:
    for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
        low, high = (int(word, 16) for word in line.split()[0].split("-"))
        if low <= address < high:
            return line.split()[-1].rpartition("/")[2]
    return ""


def rights_of(program: str, pid: int) -> list[str]:
    """Of the program's own mappings."""
    return [line.split()[0] + line.split()[1] for line in Path(f"/proc/{pid}/maps").read_text().splitlines() if line.endswith(program)]


CALLED = ("malloc", "free", "epoll_wait", "pthread_mutex_lock", "pthread_create")


def test_ejected_every_slot_and_every_page_is_as_before(program):
    with Subject(program) as process:
        until(lambda: all(file_of(process.pid, places_of(program, process.pid)[name]) == "libc.so.6"
                          for name in CALLED), "it has called all of them")
        before, rights = places_of(program, process.pid), rights_of(program, process.pid)
        for _ in range(2):
            with attached(process.pid, "--via", "inject", "--alloc", "--lock", "--eject") as service:
                until(lambda: has(service.uri, "lock", "wait_for_it"), "a wait for a lock")
                during = places_of(program, process.pid)
                assert rights_of(program, process.pid) == rights
                files = {name: file_of(process.pid, during[name]) for name in CALLED}
            assert files == {"malloc": "libisoscope_alloc.so", "free": "libisoscope_alloc.so",
                             "pthread_mutex_lock": "libisoscope_lock.so",
                             "epoll_wait": files["epoll_wait"], "pthread_create": files["epoll_wait"]}
            assert files["epoll_wait"].startswith("libisoscope.so")
            # Slots that were bound meanwhile may differ.
            after = places_of(program, process.pid)
            assert {name: after[name] for name in CALLED} == {name: before[name] for name in CALLED}
            assert not [name for name in after if "isoscope" in file_of(process.pid, after[name])]
            assert rights_of(program, process.pid) == rights
        ending(process)


@pytest.mark.parametrize("name", ["libjemalloc.so.2", "libtcmalloc_minimal.so.4"])
def test_another_allocator_keeps_its_place(compiled, name):
    library = next((str(path) for path in Path("/usr/lib").glob(f"*/{name}")), None)
    if not library:
        pytest.skip(f"no {name} here")
    program = compiled("calls", CALLS, "-O1", "-g", "-fno-builtin", "-pthread")
    with Subject("env", f"LD_PRELOAD={library}", program) as process:
        with attached(process.pid, "--via", "inject", "--alloc=4096", "--eject") as service:
            until(lambda: has(service.uri, "live", "grow"), "one that lives")
        assert "cut short: nothing" in ending(process)


OWN = r"""
#include <stdio.h>
#include <string.h>
#include <poll.h>
static char pool[1 << 25];
static unsigned long used;
void *malloc(unsigned long bytes) { void *place = pool + used % (1 << 24); used += (bytes + 31) & ~15ul; return place; }
void free(void *place) { (void)place; }
void *calloc(unsigned long count, unsigned long bytes) { return memset(malloc(count * bytes), 0, count * bytes); }
void *realloc(void *place, unsigned long bytes)
{
    void *moved = malloc(bytes);
    return place ? memcpy(moved, place, bytes) : moved;
}
int main(void)
{
    puts("ready");
    fflush(stdout);
    for (;;) {
        free(strdup("what the program's own malloc gives"));
        poll(NULL, 0, 1);
    }
}
"""


def test_a_program_with_a_malloc_of_its_own_is_left_alone_and_says_so(compiled):
    program = str(compiled("own", OWN, "-O1", "-fno-builtin"))
    with Subject(program) as process:
        done = subprocess.run([ISOSCOPE, "attach", "--via", "inject", "--alloc", "--eject", "--stats", "--for", "1", str(process.pid)],
                              capture_output=True, text=True, timeout=60)
        assert done.returncode == 0 and "it defines malloc itself" in done.stderr, done
        assert process.poll() is None


@pytest.mark.parametrize("word", ["--alloc", "--lock", "--eject", "--watch-loops=all", "--stall-limit=1s", "--fail-on-stall=1s",
                                  "--on-stall=true"])
def test_what_only_the_sampler_in_the_program_can_do_goes_with_inject_only(word):
    done = subprocess.run([ISOSCOPE, "attach", word, "1"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and "goes with --via inject only" in done.stderr


def test_page_faults_are_refused_with_the_reason():
    for word in ("--faults", "--faults=10"):
        done = subprocess.run([ISOSCOPE, "attach", "--via", "inject", word, "1"], capture_output=True, text=True, timeout=60)
        assert done.returncode == 2 and "threads that run already have none" in done.stderr


def test_stalls_run_a_command_and_fail_the_attaching(program, tmp_path):
    """A machine that is late itself is said to be, and then no stall counts: one that does is waited for."""
    told = tmp_path / "told"
    with Subject(program) as process:
        for _ in range(6):
            done = subprocess.run([ISOSCOPE, "attach", "--via", "inject", "--eject", "--for", "5", "--stall-limit", "50ms",
                                   "--fail-on-stall", "50ms", "--on-stall",
                                   f"echo $ISOSCOPE_STALL_PID $ISOSCOPE_STALL_CULPRIT $ISOSCOPE_STALL_END >> {told}",
                                   str(process.pid)], capture_output=True, text=True, timeout=120)
            if done.returncode == 3 and "(--fail-on-stall)" in done.stderr:
                break
            assert "not counted by --fail-on-stall" in done.stderr, done
        else:
            pytest.skip("this machine is late all the time")
        assert process.poll() is None
        ending(process)
    lines = [line.split() for line in told.read_text().splitlines()]
    assert lines and {words[0] for words in lines} == {str(process.pid)}
    assert any(word in LATE for words in lines for word in words)


# On a machine so busy that two seconds are not enough; what was given up finishes by itself, and is read for a while.
MAYBE = (*GIVEN_UP, "another isoscope reads what it takes")


def test_the_subject_of_torture_goes_on_right_with_all_of_it():
    """Two threads that check each block that they get back."""
    for way in ("malloc", "fork", "dlopen"):
        with Subject(str(BUILD / "tests" / "torture" / "attached"), way) as process:
            for _ in range(3):
                done = subprocess.run([ISOSCOPE, "attach", "--via", "inject", "--alloc=4096", "--lock=10", "--eject", "--for", "1",
                                       str(process.pid)], capture_output=True, text=True, timeout=60)
                assert done.returncode == 0 or any(words in done.stderr for words in MAYBE), done
            ending(process)
