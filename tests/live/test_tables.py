"""Unwind tables: the service builds them, and programs map them."""

from __future__ import annotations

import re
from pathlib import Path

from harness import Client, children, service_of, until, workload

MAPPED = re.compile(r"^[0-9a-f]+-[0-9a-f]+ r--s ([0-9a-f]+) .*\.tables$", re.MULTILINE)


def mapped_tables(pid: int) -> set[str]:
    """By their places in the file; its first page apart."""
    try:
        return set(MAPPED.findall(Path(f"/proc/{pid}/maps").read_text())) - {"00000000"}
    except (FileNotFoundError, ProcessLookupError):
        return set()


def test_all_processes_of_a_program_map_the_same_tables():
    spin = f"{workload('spin_two_to_one')} 60"
    with service_of(["sh", "-c", f"{spin} & {spin} & wait"]) as service:
        shell = service.program()
        programs = until(lambda: len(children(shell)) == 2 and children(shell), "both programs")
        first, second = programs
        until(lambda: len(mapped_tables(first)) >= 3, "the first one's tables")
        until(lambda: mapped_tables(first) == mapped_tables(second), "the same in the second one")
        (tables,) = {line.split()[-1] for line in Path(f"/proc/{first}/maps").read_text().splitlines()
                     if line.endswith(".tables")}
        assert Path(tables).exists()
    assert not Path(tables).exists()


# Its file is gone before its first tick.
DELETED = r"""
#include <time.h>
#include <unistd.h>
__attribute__((noinline)) static void inner(void)
{
    for (volatile int i = 0; i < 1000; i++)
        ;
}
__attribute__((noinline)) static void outer(void)
{
    inner();
    __asm__ volatile("");
}
int main(int count, char **words)
{
    if (unlink(words[0]) < 0)
        return count;
    while (clock() < CLOCKS_PER_SEC / 2)
        outer();
    return 0;
}
"""


def test_a_program_that_deletes_its_file_has_whole_stacks(compiled):
    with service_of([compiled("deleted", DELETED, "-O1")]) as service, Client(service.uri) as client:
        (process,) = until(client.processes, "the program")

        def told():
            return client.call("getIsolate", isolateId=process.id)["_process"]

        until(lambda: "exit" in told(), "the program's end")
        assert told()["exit"] == {"status": 0}
        counters = told()["counters"]
    assert counters["delivered"] >= 50
    assert counters["end_root"] >= 0.9 * counters["delivered"], counters
