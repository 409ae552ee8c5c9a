"""The rows: what is run, and what must be seen of it."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import NamedTuple

from harness import BUILD

PERIOD_US = 200
EXEC_US = 3000  # what a program uses at most that starts, spins for a millisecond, and execs
PROGRAMS = BUILD / "tests" / "torture"
# Another one, of 3.9 or later, may have libraries that Debian's has not.
PYTHON = os.environ.get("ISOSCOPE_TORTURE_PYTHON", "/usr/bin/python3")


class Row(NamedTuple):
    name: str
    command: list[str]
    samples: int = 100  # at least, at the asked period; fewer where the timer cannot keep it
    hot: str = ""  # a function that has at least `share` of the samples, callees included
    share: float = 0.5
    whole: float = 0.99  # of the stacks reach the thread's start
    processes: int = 1  # with samples, at least
    process_us: int = 0  # CPU time of each process where it is short: no sample where ticks are longer
    period_us: int = PERIOD_US
    environment: dict[str, str] = {}
    refused: str = ""  # isoscope does not start it, and says this
    wall: float = 0.0  # run in wall mode too, where so many of the stacks are whole; 0: it is not
    long: bool = False  # not in the short form
    callers: bool = False  # functions' names tell who calls them
    options: tuple[str, ...] = ()  # of isoscope run
    needs: str = ""  # a file without which it cannot run
    # With --alloc: functions that allocate, and what of theirs may be alive at the end; (): nothing is sampled.
    allocates: tuple[str, ...] = ()


def program(name: str, *words: str) -> list[str]:
    return [str(PROGRAMS / name), *words]


def limited(*limits: str) -> list[str]:
    return ["/usr/bin/prlimit", *limits, *program("limited")]


def storms(seconds: float, *kinds: str) -> list[str]:
    return [PYTHON, *program("python_storms.py", str(seconds), *kinds)]


def lua_storms(seconds: float, *kinds: str) -> list[str]:
    asks = 'command -v "$0" >/dev/null || { echo "not here: there is no $0"; exit 77; }; exec "$0" "$@"'
    return ["/bin/sh", "-c", asks, "lua5.4", *program("lua_storms.lua", str(seconds), *kinds)]


def own_signal(number: signal.Signals, when: str) -> Row:
    early = {"TORTURE_EARLY": str(int(number))} if when == "early" else {}
    return Row(f"own {number.name}, taken {when}",
               program("own_signal", str(int(number)), when), 400, "spin_us", environment=early)


OTHER = str(PROGRAMS / "other_preload.so")
PLUGIN = str(PROGRAMS / "plugin_0.so")
# The loader puts it behind what is preloaded already.
BEHIND = ["/bin/sh", "-c", 'LD_PRELOAD="$LD_PRELOAD $0" exec "$@"', OTHER]

PIPELINES = ("for i in {1..40}; do test \"$(seq $i 2000 | sort -n | tail -n 1 | tr -d x)\" = 2000 "
             "|| exit 1; (exec env true) || exit 1; done; echo fine")

LOADER = [
    Row("dlopen storm, 8 threads", program("loader_storm"), 2000, "storm", 0.8, 0.98, wall=0.98),
    Row("unloaded while in samples", program("loader_gone"), 1000, "plugin_spin", 0.9),
    Row("dlmopen", program("loader_namespace"), 800, "plugin_spin", 0.8),
    Row("constructor that spins", program("loader_constructor"), 700, "constructor_spin", 0.8),
    Row("plugins by RUNPATH $ORIGIN", program("loader_runpath"), 200, "spin", 0.5),
    Row("another preload behind", [*BEHIND, *program("loader_preloads", PLUGIN)], 300, "spin"),
    Row("another preload before", program("loader_preloads", PLUGIN), 300, "spin",
        # An isoscope with the address sanitizer in it would refuse to come second.
        environment={"LD_PRELOAD": OTHER, "ASAN_OPTIONS": "verify_asan_link_order=0"}),
    # For the program alone: an isoscope with the thread sanitizer in it does not start under an audit.
    Row("LD_AUDIT", ["/usr/bin/env", f"LD_AUDIT={PROGRAMS / 'audit.so'}", *program("loader_storm")],
        2000, "storm", 0.8, 0.98),
]

PROCESSES = [
    Row("fork", program("forks"), 800, "child_spin", 0.4, processes=10),
    Row("fork in 8 threads", program("forks_of_threads"), 600, "spin", 0.2, 0.95, processes=24,
        wall=0.95),
    # libc's vfork keeps its return address in a register for a while. Of the parent, which sleeps in it,
    # wall mode knows no such register: 84 to 89 % were seen.
    Row("vfork and exec", program("starts_programs", "vfork"), 300, "spin", 0.5, 0.95, 20,
        wall=0.7),
    Row("posix_spawn", program("starts_programs", "spawn"), 300, "spin", processes=20),
    *[Row(f"{how} and exec", program("starts_programs", how), 300, "spin", processes=20)
      for how in ("fork", "system", "popen")],
    Row("shell pipelines", ["/bin/bash", "-c", PIPELINES], 100, processes=20, whole=0.9),
    Row("clone with shared memory", program("clone_vm"), 200, "spin", 0.25),
    Row("exec, again and again", program("execs", "15"), 300, "spin", processes=1),
    *[Row(f"exec by {way}", program("exec_ways", way, "300"), 150, process_us=EXEC_US)
      for way in ("execve", "execv", "execvp", "execvpe", "execl", "execlp", "execle", "fexecve",
                  "execveat", "syscall", "syscall at")],
    Row("exec in a thread, others work", program("exec_ways", "thread", "300"), 300, whole=0.95,
        process_us=EXEC_US),
    Row("exec in a signal handler", program("exec_ways", "handler", "300"), 150, process_us=EXEC_US),
    Row("exec, all signals blocked", program("exec_ways", "blocked", "300"), 300),
    # Its calls are its own; the stacks end at its start, which says nothing of how to unwind it.
    Row("exec without libc", program("no_libc", "200"), 150, whole=0.0, process_us=EXEC_US),
    # The calls that fail spend time too, up to half a millisecond beside two of work.
    Row("exec fails", program("exec_ways", "fails", "600"), 2400, "spin", 0.7),
    Row("daemonise", program("daemonise"), 700, "daemon_spin", 0.4, processes=2),
    Row("PR_SET_PDEATHSIG", program("parent_death"), 400, "spin", processes=2),
]

THREADS = [
    Row("20,000 short threads", program("short_threads", "20000"), 100, whole=0.9, wall=0.9),
    Row("2,000 live threads", program("live_threads"), 100, "body", 0.05, 0.9, wall=0.9),
    Row("threads end as they tick", program("thread_ends"), 100, "body", 0.2, 0.95),
    Row("cancel, deferred", program("cancel", "deferred"), 500, "endless", 0.2, 0.95, wall=0.95),
    Row("cancel, asynchronous", program("cancel", "async"), 500, "endless", 0.2, 0.95),
    Row("detached threads", program("detached"), 200, "body", 0.1, 0.9),
    Row("raw clone thread", program("raw_thread"), 5000, "raw_spin", 0.1, 0.5, wall=0.5),
    Row("renames", program("renames"), 300, "body", 0.8),
    Row("main thread ends first", program("main_leaves"), 1500, "late_spin", 0.5),
]

SIGNALS = [
    *[own_signal(number, when) for number in (signal.SIGPROF, signal.SIGURG, signal.SIGTRAP)
      for when in ("early", "late")],
    Row("all signals blocked for a while", program("all_blocked"), 500, "spin"),
    # Their masks do not block ticks, and no tick is a signal that they wait for.
    *[Row(f"{call} for {which}", program("waits_for_signals", call, words), 1500, wall=wall)
      for call, which, words, wall in (("sigwait", "some", "few", 0.0), ("sigwait", "all", "all", 0.99),
                                       ("signalfd", "some", "few", 0.0), ("signalfd", "all", "all", 0.0))],
    Row("EINTR of sleeps", program("eintr", "80"), 50, "body"),
    Row("EINTR of sleeps at 1 kHz", program("eintr", "20"), 10, "body", period_us=1000, wall=0.99),
    Row("calls that restart", program("restarts"), 500, "spin_us", 0.3),
    Row("signal storm, 100 queued", program("signal_storm", "100"), 100, "target", 0.1, 0.98),
    # The kernel needs longer than this period to find a tick among tens of thousands of signals.
    Row("signal storm, no limit", program("signal_storm"), 50, whole=0.9),
    Row("SIGSEGV handlers, nested", program("nested_segv"), 300, "open_page", wall=0.99),
    Row("alternate stack of 8 KiB", program("small_altstack", "8192"), 1500, "on_altstack", 0.3),
    Row("alternate stack of 64 KiB", program("small_altstack", "65536"), 1500, "on_altstack", 0.3),
    Row("smallest thread stacks", program("small_stack"), 1000, "small", 0.9),
]

STACKS = [
    Row("recursion, 100,000 deep", program("recursion"), 1000, "bottom", 0.8, 0.0),
    Row("frames over 1 MiB, alloca", program("big_frames"), 500, "spin_us", 0.8),
    # Deeper than it is walked; the guard page is met in the middle of a prologue.
    Row("stacks overflow", program("overflow"), 200, "deeper", 0.5, 0.0),
    Row("longjmp, siglongjmp", program("jumps"), 500, "body", 0.8, 0.98),
    Row("C++ exceptions", program("exceptions"), 500, "(anonymous namespace)::body", 0.8,
        0.98),
    Row("coroutines", program("coroutines"), 300, "coroutine_burn", 0.5, 0.5, wall=0.5),
    Row("vdso", program("vdso"), 500, "body", 0.9),
    Row("PLT and ifunc", program("plt_ifunc"), 100, "main", 0.9),
    *[Row(f"code built {options}", program(f"codegen_{name}"), 1000, "main", 0.9, 0.999)
      for name, options in (("O0", "-O0"), ("O3", "-O3"), ("no_fp", "without frame pointer"),
                            ("fp", "with frame pointer"), ("cet", "with branch protection"))],
]

LOCKS = [
    Row("malloc storm", program("malloc_storm"), 300, "body", 0.8, 0.99),
    Row("dl_iterate_phdr in a loop", program("phdr_loop"), 300, whole=0.98),
    Row("backtrace() in a loop", program("backtraces"), 500, "body", 0.9, 0.98),
    Row("stdio", program("stdio_lines"), 200, whole=0.99),
]

CODE = [
    Row("JIT code", program("jit"), 500, whole=0.0),
    Row("stripped", program("codegen_stripped"), 1000, whole=0.999),
    Row("link-time optimized", program("codegen_lto"), 1000, "main", 0.9, 0.999),
    Row("static", program("codegen_static"), refused="static"),
    Row("static-pie", program("codegen_static_pie"), refused="static"),
]

ENVIRONMENT = [
    *[Row(f"perf refused, {error}", program("refuse", "perf", error, *program("codegen_O3")), 500,
          "main", 0.9) for error in ("EPERM", "EACCES", "ENOSYS")],
    Row("perf and timers refused", program("refuse", "timers", *program("codegen_O3")), 0),
    Row("root given up", program("drop_rights"), 1000, "spin_as_nobody", 0.4),
    Row("chroot without /proc", program("bare_root"), 800, "spin_in_jail", 0.6),
    Row("16 descriptors", limited("--nofile=16"), 500, "spin", 0.5),
    Row("4 descriptors", limited("--nofile=4"), 0),
    Row("no pending signals", limited("--sigpending=0"), 500, "spin", 0.5),
    Row("no locked memory", limited("--memlock=0"), 500, "spin", 0.5),
    Row("stack of 256 KiB", limited("--stack=262144"), 500, "spin", 0.5),
    Row("300 MB of addresses", limited("--as=300000000"), 500, "spin", 0.5),
    Row("20 MB of addresses", limited("--as=20000000"), 0),
    Row("memory unmapped, its place used", program("holes"), 500, "spin_us", 0.4),
    Row("closefrom(3)", program("close_all"), 500, "spin", 0.5),
    Row("closefrom(3) beside a dlclose", program("close_beside"), 500, "spin_us", 0.5),
    Row("descriptors closed, reused", program("reuse_fds"), 700, "spin", 0.5, wall=0.99),
    *[Row(f"fewer rights, {how}", program("rights", how), 400, "spin", 0.5)
      for how in ("setgroups", "initgroups", "seteuid", "capset", "prctl", "syscall")],
    *[Row(f"new namespace, {which}", program("new_namespace", which), 500, "spin", 0.5)
      for which in ("user", "user and mount", "mount", "entered", "of another thread",
                    "none, again and again")],
    # Afterwards the kernel makes no thread in this process, and its children are sampled again.
    Row("new namespace, user and pid", program("new_namespace", "user and pid"), 700, "spin", 0.5,
        processes=2),
    # Sampling ends when the filter comes.
    *[Row(f"sandbox, {how}", program("sandbox", how), 300, "spin", 0.5)
      for how in ("strict", "filter", "filter for all threads", "prctl")],
    Row("user dispatch of system calls", program("dispatch"), 200, "spin", 0.5),
]

# Each kind is a thread. That no frame is a wrong one is seen by the callers.
PYTHONS = [
    Row("python: exec, eval, generators, __del__", storms(0.8, "execs", "evals", "generators", "deletions"),
        400, whole=0.98, callers=True),
    Row("python: collections, recursion, exceptions, threads",
        storms(0.8, "cycles", "deep", "raises", "threads"), 400, whole=0.95, callers=True),
    Row("python: asyncio, longjmp", storms(0.5, "tasks", "jumps"), 200, whole=0.98, callers=True),
    Row("python: fork", storms(0.3, "forks"), 100, whole=0.98, processes=2, callers=True),
    Row("python: fork beside threads", storms(0.3, "forks", "execs", "generators", "raises"), 100, whole=0.95,
        processes=2, callers=True),
    Row("python: interpreters in it", storms(0.3, "interpreters"), 50, whole=0.98, callers=True),
    Row("python: interpreters beside threads", storms(0.5, "interpreters", "execs", "generators"), 200, whole=0.95,
        callers=True),
    Row("python: ends while threads run", storms(0.3, "ends"), 100, whole=0.95, processes=2),
    *[Row(f"python: {' '.join(kinds)}, long", storms(12, *kinds), 2000, whole=0.95, wall=0.9, callers=True, long=True)
      for kinds in (("execs", "evals", "generators", "deletions"), ("cycles", "deep", "raises", "threads"),
                    ("tasks", "jumps", "execs", "deep"))],
    *[Row(f"python: {kind}, long", storms(2, kind), 1000, whole=0.9, processes=2, callers=kind != "ends",
          long=True) for kind in ("forks", "ends")],
    Row("python: interpreters, long", storms(3, "interpreters"), 1000, whole=0.95, callers=True, long=True),
    # A greenlet's stack begins where it was switched to first, on the stack of others.
    *[Row(f"python: {kind}, long", storms(4, kind), 1000, whole=0.0, callers=True, long=True)
      for kind in ("greenlets", "gevents")],
]

LUAS = [
    Row("lua: coroutines, errors, collections, deep", lua_storms(0.6), 400, whole=0.98, callers=True),
    Row("lua: hooks", lua_storms(0.3, "hooks"), 200, whole=0.98, callers=True),
    Row("lua: 4 threads, a state each", lua_storms(0.8, "threads"), 400, whole=0.98, callers=True),
    Row("lua: all, long", lua_storms(4, "coroutines", "errors", "collections", "deep", "hooks"), 2000, whole=0.98, wall=0.9,
        callers=True, long=True),
    Row("lua: 4 threads, long", lua_storms(4, "threads"), 2000, whole=0.98, wall=0.9, callers=True, long=True),
]

# The server, its load and the script that checks the answers: all of them are sampled.
SERVERS = [
    Row(f"{name} under load", ["/usr/bin/python3", "-B", str(Path(__file__).with_name("servers.py")),
                               "--once", name], 1000, whole=whole, long=True)
    for name, whole in (("redis", 0.98), ("nginx", 0.98), ("node", 0.05), ("postgres", 0.98),
                        ("javac", 0.2))
]

LIBRARIES = f"/usr/lib/{os.uname().machine}-linux-gnu"
# A mean at which many are sampled, and one at which nearly each block of a page is.
OFTEN, ALL = "--alloc=65536", "--alloc=1024"
STORM = ("storm_block", "storm_grow")


def memory(name: str, words: list[str], often: str, *allocates: str, needs: str = "", **more: object) -> Row:
    environment = {"LD_PRELOAD": needs} if needs else {}
    return Row(f"memory: {name}", words, 20, whole=0.9, options=(often,), allocates=allocates, needs=needs,
               environment=environment, **more)


MEMORY = [
    memory("8 threads, forks, libraries", program("memory_storm", "3"), OFTEN, *STORM),
    memory("8 threads, each block sampled", program("memory_storm", "3"), ALL, *STORM),
    *[memory(f"allocator swapped, {library}", program("memory_storm", "2"), OFTEN, *STORM,
             needs=f"{LIBRARIES}/{library}")
      for library in ("libjemalloc.so.2", "libtcmalloc_minimal.so.4", "libmimalloc.so.2.0")],
    memory("blocks from before us", program("memory_ways", "before"), ALL, "before"),
    memory("signal handlers allocate", program("memory_ways", "handler"), ALL, "handle"),
    memory("100 GiB reserved", program("memory_ways", "reserved"), ALL, "reserved"),
    memory("threads end with live blocks", program("memory_ways", "ends"), ALL, "leave"),
    memory("out of memory", program("memory_ways", "short"), ALL, "fill_up"),
    # Nothing is sampled.
    memory("address sanitizer", program("memory_asan", "ends"), ALL),
    memory("8 threads, forks, libraries, long", program("memory_storm", "30"), OFTEN, *STORM, long=True),
    memory("8 threads, each block sampled, long", program("memory_storm", "30"), ALL, *STORM, long=True),
]

ROWS = LOADER + PROCESSES + THREADS + SIGNALS + STACKS + LOCKS + CODE + ENVIRONMENT + MEMORY + PYTHONS + LUAS + SERVERS
