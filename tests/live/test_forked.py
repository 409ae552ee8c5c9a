"""Forked children: what they cost, and which of them are sampled."""

from __future__ import annotations

import os
import re

import pytest

from harness import profiled

WORK = r"""
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <ulimit.h>
#include <unistd.h>

static void *work(void *unused)
{
    static volatile unsigned long sum;
    struct timespec now;
    do {
        for (int i = 0; i < 10000; i++)
            sum += i;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    } while (now.tv_sec * 1000 + now.tv_nsec / 1000000 < 300);
    return unused;
}
"""


@pytest.fixture
def forks(compiled):
    """forks(C): a program that works, and runs this in a forked child."""

    def make(text: str, before: str = "work(NULL);") -> str:
        return compiled("forks", f"{WORK}int main(void) {{ {before} if (fork() == 0) {{ {text} _exit(0); }} "
                                 "wait(NULL); return 0; }", "-pthread")

    return make


def samples_of_children(program: str) -> list[int]:
    with profiled([program]) as service:
        profile = service.profile()
    return sorted(len(samples.samples) for process, samples in profile)[:-1]


@pytest.fixture
def process_count(run, forks):
    """process_count(C, ...): of the program and its children, as --stats tells it."""

    def count(text: str, *options: str, **more) -> int:
        ended = run([forks(text, **more)], "--quiet", "--stats", *options)
        assert ended.returncode == 0, ended.stderr
        return int(re.search(r"(\d+) process", ended.stderr).group(1))

    return count


@pytest.fixture
def is_heard_of(process_count):
    """is_heard_of(C): whether the child announces itself, each time. A tick that falls into its
    half millisecond announces it too: seldom with a long period, and not in each of three runs."""

    def heard(text: str) -> bool:
        return all(process_count(text, "--period", "100000") > 1 for _ in range(3))

    return heard


def test_one_that_does_nothing_is_not_heard_of(is_heard_of):
    assert not is_heard_of("")


def test_one_that_works_is_sampled(forks):
    (samples,) = samples_of_children(forks("work(NULL);"))
    assert samples > 10


def test_before_it_ticks_it_has_no_descriptor_of_ours(run, forks):
    ended = run([forks('printf("%d\\n", open("/dev/null", O_RDONLY)); fflush(stdout);')], "--quiet")
    assert ended.stdout == "3\n"


def test_one_that_only_starts_a_thread_is_sampled_there(forks):
    text = "pthread_t t; pthread_create(&t, NULL, work, NULL); pthread_join(t, NULL);"
    (samples,) = samples_of_children(forks(text))
    assert samples > 10


def test_its_own_child_is_sampled_too(forks):
    samples = samples_of_children(forks("if (fork() == 0) { work(NULL); _exit(0); } wait(NULL);"))
    assert samples[-1] > 10


@pytest.mark.skipif(os.getuid() != 0, reason="nobody else can be another user")
@pytest.mark.parametrize("call", ["setuid(65534)", "setresuid(65534, 65534, 65534)",
                                  "seteuid(65534)", "unshare(CLONE_NEWNS)"])
def test_one_that_gives_its_rights_up_at_once_is_sampled(forks, call):
    (samples,) = samples_of_children(forks(f"if ({call}) abort(); work(NULL);"))
    assert samples > 10


LOW = "struct rlimit low = { %s, %s };"


@pytest.mark.parametrize("call, to", [("setrlimit(RLIMIT_NOFILE, &low)", 3),
                                      ("setrlimit(RLIMIT_FSIZE, &low)", 1024),
                                      ("setrlimit(RLIMIT_AS, &low)", 4096),
                                      ("setrlimit64(RLIMIT_AS, (void *)&low)", 4096),
                                      ("prlimit(0, RLIMIT_NOFILE, &low, NULL)", 3),
                                      ("prlimit64(getpid(), RLIMIT_FSIZE, (void *)&low, NULL)", 1024),
                                      ("syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, &low, NULL)", 3),
                                      ("syscall(SYS_setrlimit, RLIMIT_AS, &low)", 4096),
                                      ("ulimit(UL_SETFSIZE, (long)low.rlim_cur) < 0", 2)])
def test_one_that_lowers_a_limit_at_once_is_sampled(forks, call, to):
    (samples,) = samples_of_children(forks(f"{LOW % (to, to)} if ({call}) abort(); work(NULL);"))
    assert samples > 10


BELOW = "if (fork() == 0) { work(NULL); if (getrlimit(RLIMIT_NOFILE, &low) || low.rlim_cur != 3) abort(); _exit(0); }"


def test_the_child_of_one_that_lowered_its_limit_is_sampled_and_has_that_limit(forks):
    """None is left for it to begin with: the hard limit is, for a moment."""
    samples = samples_of_children(forks(
        f"{LOW % (3, 64)} int status; if (setrlimit(RLIMIT_NOFILE, &low)) abort(); {BELOW} "
        "wait(&status); if (status) abort();"))
    assert samples[-1] > 10


def test_one_that_does_not_lower_a_limit_of_its_own_is_not_heard_of(is_heard_of):
    same = "struct rlimit limit; getrlimit(RLIMIT_NOFILE, &limit);"
    assert not is_heard_of(f"{same} setrlimit(RLIMIT_NOFILE, &limit);")
    assert not is_heard_of(f"{same} prlimit(0, RLIMIT_NOFILE, NULL, &limit);")
    assert not is_heard_of(f"{same} limit.rlim_cur--; prlimit(getppid(), RLIMIT_NOFILE, &limit, NULL);")
    assert not is_heard_of(f"{LOW % (0, 0)} setrlimit(RLIMIT_CORE, &low);")
    assert not is_heard_of("ulimit(UL_GETFSIZE); ulimit(UL_SETFSIZE, 1L << 55);")


def test_a_limit_at_a_bad_address_is_refused_as_ever(run, forks):
    text = 'printf("%d", setrlimit(RLIMIT_FSIZE, (void *)8) == -1 && errno == EFAULT); fflush(stdout);'
    assert run([forks(text)], "--quiet").stdout == "1"


def test_one_that_names_its_tracer_has_named_the_service_before(is_heard_of):
    """What is named last counts: with the first tick the service would be."""
    assert is_heard_of("prctl(PR_SET_PTRACER, getppid(), 0L, 0L, 0L);")
    assert is_heard_of("syscall(SYS_prctl, PR_SET_PTRACER, getppid(), 0L, 0L, 0L);")
    assert not is_heard_of("prctl(PR_GET_NAME, (char[16]){0}, 0L, 0L, 0L);")


def test_in_wall_mode_one_that_only_sleeps_is_heard_of(process_count):
    assert process_count("usleep(400000);", "--mode", "wall", before="") == 2
    assert process_count("usleep(400000);", "--mode", "wall") == 2
