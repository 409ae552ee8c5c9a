"""`isoscope run --lock`: locks that know their holder by the kernel, and those of two processes."""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from typing import NamedTuple

import pytest

from harness import ISOSCOPE, Client, measured, profiled, workload

TURNS, STATUS_NOT_HERE = 50, 77
# Word of the program: the kind of samples, what is waited for, whether the holder can be known.
WAYS = {
    "pi": ("lock", "mutex", True),
    "robust": ("lock", "mutex", True),
    "protect": ("lock", "mutex", True),
    "shared": ("lock", "mutex", True),
    "shared_pi": ("lock", "mutex", True),
    "shared_readers": ("lock", "read", True),
    "shared_futex": ("wait", "futex", False),
}
NEEDS_RIGHTS = "protect"


class Told(NamedTuple):
    waited_us: float
    holder: int


def of_the_program(text: str) -> Told:
    lines = dict(line.split(" ", 1) for line in text.splitlines())
    count, ns = map(int, lines["waited"].split())
    assert count == TURNS
    return Told(ns / 1000, int(lines["holder"]))


def needs_rights(way: str) -> None:
    if way != NEEDS_RIGHTS:
        return
    alone = subprocess.run([workload("waits_across"), way], capture_output=True, timeout=60)
    if alone.returncode == STATUS_NOT_HERE:
        pytest.skip("this user may not have a real-time priority")


@pytest.mark.parametrize("way", WAYS)
@measured
def test_waits_are_seen_with_their_time_and_holder(way):
    needs_rights(way)
    kind, what, knows_holder = WAYS[way]
    with profiled([workload("waits_across"), way], "--lock=10", stdout=subprocess.PIPE, text=True) as service:
        with Client(service.uri) as client:
            waits = client.profile(kind=kind)
            counted = client.call("_getCpuSamples", count=1, kind="lock")["_counters"]
        own = of_the_program("".join(service.process.stdout.readline() for _ in range(2)))
    threads = [waits.threads[thread] for thread in waits.sample_threads]
    main = [place for place, thread in enumerate(threads)
            if str(thread.tid) == thread.process.number and waits.waited_for[place] == what]
    waited_us = sum(waits.weights_us[place] for place in main)
    assert sum(waits.objects[place] for place in main) == pytest.approx(TURNS, abs=0.5)
    assert waited_us == pytest.approx(own.waited_us, rel=0.03)
    if kind == "lock":  # 100,000 times it was free
        assert counted["lock_waits"] <= TURNS + 2, counted
    holders = Counter(waits.holders[place] for place in main)
    assert holders == {own.holder if knows_holder else 0: TURNS}


def test_a_holder_in_another_process_is_told_with_what_it_did():
    command = [ISOSCOPE, "locks", "--json", "--mode", "wall", "--", workload("waits_across"), "shared"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert ended.returncode == 0, ended.stderr
    told = json.loads(next(line for line in ended.stdout.splitlines() if line.startswith("{")))
    holder_tid = next(int(line.split()[1]) for text in (ended.stdout, ended.stderr) for line in text.splitlines()
                      if line.startswith("holder "))
    (lock,) = [lock for lock in told["locks"] if "mutex" in lock["kinds"]]
    (holder,) = lock["holders"]
    assert holder["tid"] == holder_tid and holder["thread"].startswith("waits_across")
    assert "holds" in holder["doing"][0]["stack"]


SHARED = r"""
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
enum { BYTES = 1 << 16, AT = 0x1040, TURNS = 400 };
static pthread_mutex_t *shared, *own;
__attribute__((noinline)) static void hold(pthread_mutex_t *mutex)
{
    pthread_mutex_lock(mutex);
    usleep(500);
    pthread_mutex_unlock(mutex);
    usleep(1); /* or nobody else gets it */
}
static void *work(void *mutex)
{
    for (int i = 0; i < TURNS; i++)
        hold(mutex);
    return NULL;
}
static void work_both(char *map)
{
    pthread_t thread;
    shared = (pthread_mutex_t *)(map + AT);
    pthread_create(&thread, NULL, work, own); /* of the heap: each process has one at that address */
    for (int i = 0; i < TURNS; i++) {
        hold(shared);
        hold(own);
    }
    pthread_join(thread, NULL);
}
int main(void)
{
    int memfd = memfd_create("locks", 0), status;
    char *map, *other;
    pthread_mutexattr_t attributes;
    if (memfd < 0 || ftruncate(memfd, BYTES))
        return 1;
    map = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, memfd, 0);
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init((pthread_mutex_t *)(map + AT), &attributes);
    own = malloc(4096);
    pthread_mutex_init(own, NULL);
    if (!fork()) {
        other = mmap(NULL, BYTES - 4096, PROT_READ | PROT_WRITE, MAP_SHARED, memfd, 4096);
        munmap(map, BYTES);
        work_both(other - 4096);
        _exit(0);
    }
    work_both(map);
    wait(&status);
    return status;
}
"""


def test_a_lock_in_shared_memory_is_one_for_all_processes_wherever_they_map_it(compiled):
    program = compiled("sharing", SHARED, "-O1", "-pthread")
    command = [ISOSCOPE, "locks", "--json", "--", program]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert ended.returncode == 0, ended.stderr
    told = json.loads(next(line for line in ended.stdout.splitlines() if line.startswith("{")))
    names = Counter(lock["name"] for lock in told["locks"] if "mutex" in lock["kinds"])
    (shared,) = [name for name in names if name.startswith("shared mutex ")]
    assert shared.endswith("+0x1040") and names[shared] == 1, names
    (lock,) = [lock for lock in told["locks"] if lock["name"] == shared]
    assert len({holder["tid"] for holder in lock["holders"] if holder["tid"]}) == 2, lock
    # Those of the heap, which only have the same address.
    (own,) = [name for name in names if name.startswith("mutex 0x")]
    assert names[own] == 2, names
