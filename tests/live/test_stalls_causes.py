"""Why a loop was late: of each cause that can be made, and what is known of it."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import Any, NamedTuple

import pytest
from harness import until, workload
from stall_loop import Stall, StallLoop, stall_loop, was_disturbed, wrong_times

EACH = 2  # ./dev bench stalls: 20
TRIES = 10


class Way(NamedTuple):
    word: str
    cause: str
    functions: set[str]  # the culprit or its caller is one of them


WAYS = [
    Way("busy:600", "busy", {"busy"}),
    Way("sleep:600", "sleep", {"wait_asleep"}),
    Way("lock:600", "lock", {"wait_for_lock"}),
    Way("pipe:600", "io", {"wait_for_pipe"}),
    Way("child:600", "child", {"wait_for_child"}),
    Way("dlopen:600", "busy", {"slow_constructor"}),
    Way("fault:600", "page-fault", {"wait_for_page"}),
]


@pytest.fixture(scope="module")
def loop():
    with stall_loop() as loop:
        yield loop


def judged(loop: StallLoop, word: str) -> Stall:
    """Its stall, of a try that nothing else disturbed. A # in the word is the try's number."""
    for attempt in range(TRIES):
        step, stall = loop.stalled(word.replace("#", str(attempt)))
        assert wrong_times(stall, step) == ""
        if not was_disturbed(stall):
            return stall
    pytest.skip("the machine was too busy, each time")


def places(stall: Stall) -> set[str]:
    return {stall["culprit"]["function"], stall.get("caller", {}).get("function", "")}


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.word)
def test_the_cause_is_right(loop, way):
    for _ in range(EACH):
        stall = judged(loop, way.word)
        assert stall["cause"] == way.cause, stall
        assert places(stall) & way.functions, stall
        assert stall["causeText"]


def test_a_lock_has_its_holder(loop):
    stall = judged(loop, "lock:600")
    assert stall["systemCall"] == "futex"
    assert stall["holder"]["thread"] == "holder" and stall["holder"]["tid"] not in (0, loop.pid)


def test_a_read_has_its_descriptor_and_path(loop):
    stall = judged(loop, "pipe:600")
    assert stall["systemCall"] == "read" and stall["descriptor"] > 2
    assert stall["path"].startswith("pipe:")


@pytest.fixture
def slow_files(short_path):
    """A mounted file system whose files take 600 ms to read."""
    program, tool = workload("slow_files"), shutil.which("fusermount3")
    if not os.path.exists(program):
        pytest.skip("built without libfuse3-dev")
    if not tool or not os.path.exists("/dev/fuse"):
        pytest.skip("file systems of programs cannot be mounted here: no fusermount3 or /dev/fuse")
    mount = short_path / "mount"
    mount.mkdir()
    process = subprocess.Popen([program, str(mount), "600"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until(lambda: mount.is_mount() or process.poll() is not None, "it is mounted")
        if process.poll() is not None:
            pytest.skip("this user may not mount")
        yield mount
    finally:
        subprocess.run([tool, "-u", "-z", str(mount)], check=False, capture_output=True)
        process.terminate()
        process.wait()


def test_a_slow_file_is_io_with_its_path_or_a_page_fault(loop, slow_files):
    def stalled(way: str, number: int) -> Any:
        return judged(loop, f"{way}:{slow_files / f'{way}{number}-#'}")  # what was read once is quick

    for number in range(EACH):
        read = stalled("read", number)
        assert read["cause"] == "io" and "wait_for_file" in places(read), read
        assert read["path"].startswith(str(slow_files))
        touched = stalled("touch", number)
        assert touched["cause"] == "page-fault" and "wait_for_mapping" in places(touched), touched
