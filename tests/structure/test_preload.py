"""What enters other people's programs is small, and needs libc only."""

import os
import re
import subprocess
from pathlib import Path

import signal_safe

LIBRARY = Path(os.environ["ISOSCOPE_BUILD"]) / "lib/libisoscope.so"

# What it may take the place of; everything else of ours is hidden.
WRAPPED = {"pthread_create", "dlclose", "sigaction", "signal", "ssignal", "bsd_signal",
           "sysv_signal", "__sysv_signal", "sigwait", "sigwaitinfo", "sigtimedwait", "signalfd",
           "prctl", "setns", "syscall", "ppoll", "pselect", "epoll_pwait", "epoll_pwait2",
           "sigsuspend", "sigprocmask", "pthread_sigmask", "sigpending", "sigset", "sigignore",
           "pthread_key_create", "__pthread_key_create", "tss_create", "chroot", "pivot_root",
           "unshare", "setuid", "seteuid", "setreuid", "setresuid", "setrlimit", "setrlimit64",
           "prlimit", "prlimit64", "ulimit", "dup2", "dup3",
           "close_range", "closefrom", "epoll_wait", "poll", "__poll_chk", "__ppoll_chk", "select",
           "__io_uring_get_cqe", "io_uring_wait_cqes", "io_uring_wait_cqe_timeout",
           "io_uring_submit", "io_uring_submit_and_wait", "io_uring_submit_and_wait_timeout", "io_uring_enter",
           "io_uring_enter2"}
# What gcc's address sanitizer asks, in programs that have it.
ANSWERS = {"__asan_default_options"}


def test_it_needs_libc_only():
    needed = re.findall(r"NEEDED.*\[(.+)\]", signal_safe.run("readelf", "-dW", str(LIBRARY)))
    assert set(needed) <= {"libc.so.6", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}


def test_it_is_small():
    text, data = (int(word) for word in
                  signal_safe.run("size", str(LIBRARY)).splitlines()[1].split()[:2])
    # A quarter of it is walkers of runtimes: pages that a program without one never touches.
    assert text + data < 364 * 1024


def test_it_exports_its_interface_what_it_wraps_and_what_it_is_asked():
    table = subprocess.run(["nm", "-D", "--defined-only", str(LIBRARY)], check=True,
                           capture_output=True, text=True).stdout
    names = {line.split()[-1].split("@")[0] for line in table.splitlines()}
    assert {name for name in names if not name.startswith("isoscope_")} == WRAPPED | ANSWERS


def test_it_has_little_static_memory():
    """Collectors that take static memory for roots (Boehm's) read it each time, and mlockall locks it."""
    bss = int(signal_safe.run("size", str(LIBRARY)).splitlines()[1].split()[2])
    assert bss < 32 * 1024
