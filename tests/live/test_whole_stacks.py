"""Stacks that reach the thread's start through code that is not like other code."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from pathlib import Path

import pytest
from harness import DEADLINE_S, ISOSCOPE, default_timer, profiled, workload

# A function's first call looks for it: here that takes long, for it is an indirect one, and the one
# that chooses it spins.
LATE_LIBRARY = """
#include <time.h>
static void chosen(void) {}
__attribute__((noinline)) void spin_while_choosing(void)
{
    volatile unsigned sum = 0;
    struct timespec used;

    do {
        for (int i = 0; i < 20000; i++)
            sum = sum * 3 + 1;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    } while (!used.tv_sec && used.tv_nsec < 300 * 1000 * 1000);
}
static void *choose(void)
{
    spin_while_choosing();
    return chosen;
}
void late(void) __attribute__((ifunc("choose")));
"""
CALLS_LATE = """
void late(void);
__attribute__((noinline)) void calls_late(void) { late(); }
int main(void) { calls_late(); return 0; }
"""


def samples_in(service, function: str):
    samples = [s for _, part in service.profile() for s in part.samples]
    return [s for s in samples if function in [f.name for f in s.stack]]


def test_a_stack_in_a_functions_first_call_goes_on_behind_the_loader(compiled):
    library = compiled("liblate.so", LATE_LIBRARY, "-O2", "-shared", "-fPIC")
    program = compiled("late", CALLS_LATE, "-O2", "-Wl,-z,lazy,--no-as-needed", library)
    with profiled([program]) as service:
        samples = samples_in(service, "spin_while_choosing")
    assert len(samples) >= 200 * default_timer().kept
    for sample in samples:
        names = [function.name for function in sample.stack]
        assert sample.whole and "main" in names, names
        assert any(name.startswith("_dl_runtime_resolve") for name in names), names


# What a runtime is asked to run, for some tenths of a second: outer calls middle, which calls inner.
JAVASCRIPT = """
function inner(n) { let sum = 0; for (let i = 0; i < n; i++) sum = (sum * 31 + i) | 0; return sum; }
function middle(n) { return inner(n) + inner(n + 1); }
function outer() { let sum = 0; for (let i = 0; i < 8000; i++) sum ^= middle(20000); return sum; }
console.log(outer());
"""
LISP = """
(defun inner (n) (let ((sum 0)) (dotimes (i n) (setf sum (mod (+ (* sum 31) i) 1000003))) sum))
(defun middle (n) (+ (inner n) (inner (1+ n))))
(defun outer () (let ((sum 0)) (dotimes (i 800) (incf sum (middle 20000))) sum))
(print (outer))
"""
ERLANG = """
inner(0, Sum) -> Sum;
inner(N, Sum) -> inner(N - 1, (Sum * 31 + N) rem 1000003).
middle(N) -> inner(N, 0) + inner(N + 1, 0).
outer(0, Sum) -> Sum;
outer(I, Sum) -> outer(I - 1, Sum + middle(10000)).
main() -> io:format("~p~n", [outer(3000, 0)]), halt().
"""
PYTHON = """
def inner(n):
    sum = 0
    for i in range(n): sum = (sum * 31 + i) % 1000003
    return sum
def middle(n): return inner(n) + inner(n + 1)
def outer(): return [middle(20000) for i in range(60)][0]
print(outer())
"""


def needs(program: str) -> str:
    return shutil.which(program) or pytest.skip(f"needs {program}")


def node(folder: Path) -> list[str]:
    (folder / "spins.js").write_text(JAVASCRIPT)
    return [needs("node"), "spins.js"]


def sbcl(folder: Path) -> list[str]:
    (folder / "spins.lisp").write_text(LISP)
    return [needs("sbcl"), "--script", "spins.lisp"]


def erlang(folder: Path) -> list[str]:
    (folder / "spins.erl").write_text(f"-module(spins).\n-export([main/0]).\n{ERLANG}")
    subprocess.run([needs("erlc"), "spins.erl"], cwd=folder, check=True)
    return [needs("erl"), "+JPperf", "true", "-noshell", "-s", "spins", "main"]


def python(folder: Path) -> list[str]:
    (folder / "spins.py").write_text(PYTHON)
    for name in ("python3.13", "python3.12"):
        found = shutil.which(name)
        if found and not subprocess.run([found, "-X", "perf", "-c", ""]).returncode:
            return [found, "-X", "perf", "spins.py"]
    return pytest.skip("needs Python 3.12 or 3.13")


@pytest.mark.parametrize("runtime", [node, sbcl, erlang, python])
def test_a_stack_goes_on_through_the_code_that_a_runtime_makes(runtime, tmp_path):
    command = runtime(tmp_path)
    with profiled(command, cwd=tmp_path) as service:
        profile = service.profile()
    for _, part in profile:  # what it leaves in /tmp is ours to remove
        Path(f"/tmp/perf-{part.pid}.map").unlink(missing_ok=True)
    # At its start the tables of the runtime itself are still to come.
    samples = max((part.samples for _, part in profile), key=len)
    later = samples[len(samples) // 2 :]
    whole = [s for s in later if s.whole]
    assert len(later) >= 40 * default_timer().kept and len(whole) >= 0.95 * len(later)
    assert len([s for s in whole if len(s.stack) >= 3]) >= 0.9 * len(whole)


# With C in it, so that it is linked dynamically. inner has no frame of its own.
GO = """
package main

/*
static double burn_in_c(long rounds)
{
    volatile double sum = 1;
    for (long i = 0; i < rounds; i++) sum = sum * 1.0000001 + 1;
    return sum;
}
*/
import "C"
import "time"

//go:noinline
func inner(n int) float64 { s := 1.0; for i := 0; i < n; i++ { s = s*1.0000001 + float64(i&3) }; return s }
//go:noinline
func middle(n int) float64 { return inner(n) + 1 }
//go:noinline
func callsC(n int) float64 { return float64(C.burn_in_c(C.long(n))) + 1 }

func main() {
    sum, end := 0.0, time.Now().Add(900 * time.Millisecond)
    for time.Now().Before(end) { sum += middle(300000) + callsC(300000) }
    if sum == 0 { panic("nothing") }
}
"""
# Debian's comes with its standard library built.
GO_TOOLS = ("/usr/bin/go", shutil.which("go") or "")


@pytest.fixture(scope="module")
def go_program(tmp_path_factory):
    tool = next((t for t in GO_TOOLS if t and Path(t).exists()), None) or pytest.skip("needs go")
    if platform.machine() != "x86_64":
        pytest.skip("Go's own rules are followed on x86-64")
    shutil.which("gcc") or pytest.skip("cgo needs gcc")
    folder = tmp_path_factory.mktemp("go")
    (folder / "main.go").write_text(GO)
    (folder / "go.mod").write_text("module spins\n\ngo 1.19\n")

    def build(*flags: str) -> Path:
        program = folder / "-".join(["spins", *(f.strip("-").replace("=", "") for f in flags)])
        quiet = {"GOFLAGS": "-mod=mod", "GOTOOLCHAIN": "local", "GOCACHE": str(folder / "cache"),
                 "GOPATH": str(folder / "path"), "CGO_ENABLED": "1", "CC": "gcc"}  # fmt: skip
        subprocess.run([tool, "build", *flags, "-o", program, "."], cwd=folder, check=True,
                       env={**os.environ, **quiet}, timeout=10 * DEADLINE_S)  # fmt: skip
        return program

    return build


@pytest.mark.parametrize("mode", ["exe", "pie"])
def test_a_stack_of_go_goes_on_through_c_and_back_to_its_own_stack(go_program, mode):
    with profiled([go_program(f"-buildmode={mode}")]) as service:
        samples = max((part.samples for _, part in service.profile()), key=len)
    later = samples[len(samples) // 2 :]
    callers = {"inner": "main.middle", "burn_in_c": "main.callsC"}
    seen = dict.fromkeys(callers, 0)
    assert len([s for s in later if s.whole]) >= 0.95 * len(later)
    for sample in later:
        names = [function.name for function in sample.stack]
        leaf = names[0].removeprefix("main.") if sample.whole else ""
        if leaf in callers:
            seen[leaf] += 1
            behind = [name for name in names if name.startswith("main.")]
            assert callers[leaf] in behind and behind[-1] == "main.main", names
            # Nobody is passed over: of Go's leaf the caller itself is next.
            assert leaf != "inner" or names[1] == "main.middle", names
    assert min(seen.values()) >= 20 * default_timer().kept, seen


def test_a_stripped_go_program_says_how_to_build_it(go_program):
    program = go_program("-ldflags=-s")
    told = subprocess.run([ISOSCOPE, "tree", "--", program], capture_output=True, text=True,
                          check=True, timeout=DEADLINE_S)
    assert "without -ldflags=-s" in told.stdout + told.stderr


# Its name begins as LuaJIT's does, and its code lies in no module.
IN_NO_MODULE = """
#include <string.h>
#include <sys/mman.h>
#include <time.h>
int main(void)
{
#ifdef __x86_64__ /* mov ecx, 100000; again: dec ecx; jne again; ret */
    static const unsigned char code[] = { 0xb9, 0xa0, 0x86, 1, 0, 0xff, 0xc9, 0x75, 0xfc, 0xc3 };
#else /* mov w0, 65535; again: subs w0, w0, 1; b.ne again; ret */
    static const unsigned code[] = { 0x529fffe0, 0x71000400, 0x54ffffe1, 0xd65f03c0 };
#endif
    void *made = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct timespec used;

    memcpy(made, code, sizeof code);
    __builtin___clear_cache(made, (char *)made + sizeof code);
    do {
        ((void (*)(void))made)();
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    } while (!used.tv_sec && used.tv_nsec < 300 * 1000 * 1000);
    return 0;
}
"""


def test_stacks_that_end_in_a_runtimes_code_say_which_option_helps(compiled):
    program = compiled("luajit-like", IN_NO_MODULE)
    for command in (["tree"], ["run", "--stats"]):
        told = subprocess.run([ISOSCOPE, *command, "--", program], capture_output=True, text=True,
                              check=True, timeout=DEADLINE_S)
        assert "luajit -joff" in told.stdout + told.stderr
    told = subprocess.run([ISOSCOPE, "tree", "--", workload("spin_two_to_one"), "0.2"],
                          capture_output=True, text=True, check=True, timeout=DEADLINE_S)
    assert "luajit" not in told.stdout + told.stderr


def test_the_options_that_a_runtime_names_its_code_by_are_given_on_request(tmp_path):
    (tmp_path / "spins.erl").write_text(f"-module(spins).\n-export([main/0]).\n{ERLANG}")
    subprocess.run([needs("erlc"), "spins.erl"], cwd=tmp_path, check=True)
    command = [needs("erl"), "-noshell", "-s", "spins", "main"]
    with profiled(command, "--runtime-options", "auto", cwd=tmp_path) as service:
        profile = service.profile()
    for _, part in profile:
        Path(f"/tmp/perf-{part.pid}.map").unlink(missing_ok=True)
    names = {function.name for _, part in profile for sample in part.samples for function in sample.stack}
    assert any("spins:" in name for name in names), sorted(names)[:50]
