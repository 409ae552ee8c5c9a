"""Nothing but marked code runs in the tick handler."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

import signal_safe

# The objects of libisoscope.so, as CMake lists them.
OBJECTS = [Path(p) for p in os.environ.get("ISOSCOPE_CAPTURE_OBJECTS", "").split(":")
           if p.endswith(".c.o")]

MARK = '__attribute__((section(".text.signal_safe")))\n'


def test_the_tick_handler_reaches_only_marked_code():
    assert OBJECTS, "ISOSCOPE_CAPTURE_OBJECTS names no object files"
    assert signal_safe.unsafe_references(OBJECTS) == []


def test_the_handler_and_what_it_calls_are_marked():
    functions = signal_safe.safe_functions(OBJECTS)
    assert {"handler_tick", "unwind", "ring_reserve", "ring_commit", "capture", "code_map_enter",
            "tend_at_tick"} <= functions


@pytest.mark.parametrize("code, wrong", [
    ("void other(void); " + MARK + "void safe(void) { other(); }", True),
    ("#include <stdlib.h>\n" + MARK + "void *safe(void) { return malloc(4); }", True),
    ("#include <stdio.h>\n" + MARK + 'void safe(void) { puts("x"); }', True),
    ("__attribute__((noinline)) static int plain(int x) { return x * x; } " + MARK +
     "int safe(int x) { return plain(x); }", True),
    ("void plain(void) {} " + MARK + "void *safe(void) { return (void *)plain; }", True),
    ("int data; " + MARK + "int safe(void) { return ++data; }", False),
    ("#include <time.h>\n" + MARK +
     "int safe(struct timespec *t) { return clock_gettime(CLOCK_MONOTONIC, t); }", False),
])
def test_the_check_finds_code_that_is_not_marked(tmp_path, code, wrong):
    source = tmp_path / "x.c"
    source.write_text(code)
    compiler = shutil.which("cc") or "gcc"
    subprocess.run([compiler, "-O2", "-fPIC", "-c", str(source), "-o", str(tmp_path / "x.o")],
                   check=True)
    assert bool(signal_safe.unsafe_references([tmp_path / "x.o"])) == wrong
