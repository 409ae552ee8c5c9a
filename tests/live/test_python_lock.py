"""Who has Python's interpreter lock and who waits for it, by --gil; asyncio's tasks, by --tasks."""

from __future__ import annotations

import subprocess
from collections import Counter

import pytest
from harness import ISOSCOPE, default_timer, profiled

PYTHON = "/usr/bin/python3"
PERIOD_US = 5000
PROGRAM = """
import hashlib, threading, time

def spins():
    while time.thread_time() < 0.6:
        sum(range(2000))

def hashes():
    while time.thread_time() < 0.4:
        hashlib.pbkdf2_hmac("sha256", b"a", b"b", 100000)

def sleeps():
    time.sleep(1)

threads = [threading.Thread(target=body) for body in (spins, spins, hashes, sleeps)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""
TASKS = """
import asyncio, sys, time

async def works(name):
    spins_for(name)
    await asyncio.sleep(0)

def spins_for(name):
    globals()["spins_" + name](time.process_time() + 0.01)

def spins_orders(end):
    while time.process_time() < end:
        sum(range(500))

def spins_stock(end):
    while time.process_time() < end:
        sum(range(500))

async def repeats(name):
    for _ in range(25):
        await works(name)

async def main():
    await asyncio.gather(*(asyncio.create_task(repeats(name), name="task " + name) for name in ("orders", "stock")))

asyncio.run(main())
"""


@pytest.fixture(scope="module")
def states(tmp_path_factory) -> dict[str, Counter]:
    """By the thread's function: its samples' states. Who waits for a processor is left out: so much as others take."""
    script = tmp_path_factory.mktemp("lock") / "threads.py"
    script.write_text(PROGRAM)
    found: dict[str, Counter] = {name: Counter() for name in ("spins", "pbkdf2", "sleeps")}
    with profiled([PYTHON, str(script)], "--gil", "--mode", "wall", "--period", str(PERIOD_US)) as service:
        ((_, samples),) = service.profile()
    for sample in samples.samples:
        names = [function.name for function in sample.stack]
        asleep = "sleeps" in names and any("nanosleep" in name for name in names)
        hashing = "hashes" in names and any("PBKDF2" in name.upper() for name in names)
        kind = "sleeps" if asleep else "pbkdf2" if hashing else "spins" if "spins" in names else ""
        if kind and sample.vm_tag != "Runnable":
            found[kind][sample.vm_tag] += 1
    return found


def test_of_two_threads_that_want_the_lock_one_has_it_and_the_other_waits(states):
    spins = states["spins"]
    assert spins["GilHeld"] >= 20 * default_timer().kept and spins["GilWait"] >= 20, spins
    # A moment lies between: the lock was just dropped, or is just asked for.
    assert spins["GilHeld"] + spins["GilWait"] >= 0.95 * spins.total(), spins


def test_who_computes_without_the_lock_does_not_hold_it(states):
    hashes = states["pbkdf2"]
    assert hashes["Running"] >= 20 * default_timer().kept, hashes
    # When it is done it waits for the lock, and has it for a moment.
    assert hashes["GilHeld"] <= 0.02 * hashes["Running"] + 1, hashes


def test_who_sleeps_neither_has_it_nor_waits_for_it(states):
    sleeps = states["sleeps"]
    assert sleeps["Sleep"] >= 40 and sleeps["Sleep"] >= 0.99 * sleeps.total(), sleeps


def test_nobody_is_told_of_it_unasked(tmp_path):
    script = tmp_path / "threads.py"
    script.write_text(PROGRAM)
    with profiled([PYTHON, str(script)], "--mode", "wall", "--period", str(PERIOD_US)) as service:
        ((_, samples),) = service.profile()
    tags = Counter(sample.vm_tag for sample in samples.samples)
    assert tags and not {"GilHeld", "GilWait"} & set(tags), tags


def test_a_task_is_the_tag_of_what_it_runs_and_of_nothing_else(tmp_path):
    script = tmp_path / "tasks.py"
    script.write_text(TASKS)
    with profiled([PYTHON, str(script)], "--tasks") as service:
        ((_, samples),) = service.profile()
        grouped = subprocess.run([ISOSCOPE, "tree", "--group", "tag", service.uri], capture_output=True, text=True,
                                 timeout=60)
    right, wrong = Counter(), Counter()
    for sample in samples.samples:
        for name in ("orders", "stock"):
            if any(function.name == f"spins_{name}" for function in sample.stack):
                (right if sample.user_tag == f"task {name}" else wrong)[sample.user_tag] += 1
    least = 60 * default_timer().kept
    assert right["task orders"] >= least and right["task stock"] >= least, (right, wrong)
    # Between two tasks the one that runs is not told for a moment, and at the start Python's frames are still to be found.
    assert wrong.total() <= 0.02 * right.total() + 2, wrong
    assert "task orders" in grouped.stdout and "task stock" in grouped.stdout, grouped.stdout + grouped.stderr
