"""A project in C++ whose profile is known: `hot` takes about three times as long as `warm`."""

from __future__ import annotations

import subprocess
from pathlib import Path

SOURCE = """\
#include <cstdio>
#include <cstdlib>

static volatile double sink;

__attribute__((noinline)) static void spin(int count)
{
    for (int i = 1; i < count; i++)
        sink = sink + 1.0 / i;
}

__attribute__((noinline)) static void warm(int count)
{
    spin(count);
}

__attribute__((noinline)) static void hot(int count)
{
    for (int i = 0; i < 3; i++)
        spin(count);
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 60;
    for (int i = 0; i < rounds; i++) {
        warm(1000 * 1000);
        hot(argc > 2 ? 10 * 1000 : 1000 * 1000);
    }
    puts("done");
    return 0;
}
"""
SPIN, LOOP, WARM, HOT, MAIN = 6, 9, 12, 17, 23  # lines


def build(folder: Path, source: str = SOURCE, *flags: str) -> Path:
    """Returns the program."""
    (folder / "hot.cpp").write_text(source)
    return compiled(folder, *flags)


def compiled(folder: Path, *flags: str) -> Path:
    program = folder / "hot"
    subprocess.run(["c++", "-g", "-O1", *flags, "-o", program, folder / "hot.cpp"], check=True)
    return program
