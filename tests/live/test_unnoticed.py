"""What a program could ask for, and see that it is sampled."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys

import pytest

# Works for so many milliseconds of CPU time.
WORK = """
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void work(int milliseconds)
{
    static volatile unsigned long sum;
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    long until = now.tv_sec * 1000 + now.tv_nsec / 1000000 + milliseconds;
    do {
        for (int i = 0; i < 10000; i++)
            sum += i;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    } while (now.tv_sec * 1000 + now.tv_nsec / 1000000 < until);
}
"""

def delivered(stats: str) -> int:
    return int(re.search(r"delivered +(\d+)", stats).group(1))


WAYS = pytest.mark.parametrize("timer", ["auto", "cpu"])


@pytest.fixture
def answer(run, compiled):
    """answer(C, ...): what such a program says, which must be sampled meanwhile."""

    def ask(text: str, *options: str, flags: tuple[str, ...] = ("-pthread", "-Wno-deprecated-declarations")) -> str:
        ended = run([compiled("asks", WORK + text, *flags)], "--quiet", "--stats", *options)
        assert ended.returncode == 0, ended.stderr
        assert delivered(ended.stderr) > 5, ended.stderr
        return ended.stdout

    return ask


FEW_BLOCKED = """
int main(void)
{
    sigset_t few, waiting;
    sigemptyset(&few);
    sigaddset(&few, SIGTRAP);
    sigaddset(&few, SIGURG);
    sigaddset(&few, SIGSTKFLT);
    work(50);
    sigprocmask(SIG_BLOCK, &few, NULL);
    for (int round = 0; round < 20; round++) {
        work(10);
        sigpending(&waiting);
        if (!sigisemptyset(&waiting))
            puts("a signal waits");
    }
    kill(getpid(), SIGURG);
    kill(getpid(), SIGTRAP); /* to the process: to the thread it would merge with a tick */
    work(50);
    sigpending(&waiting);
    printf("%d %d\\n", sigismember(&waiting, SIGURG), sigismember(&waiting, SIGTRAP));
    sigtimedwait(&few, NULL, NULL);
    sigtimedwait(&few, NULL, NULL);
    return 0;
}
"""


@WAYS
def test_of_signals_that_wait_it_sees_its_own_only(answer, timer):
    assert answer(FEW_BLOCKED, "--timer", timer) == "1 1\n"


SYSTEM_V = """
static int heard;
static void hear(int number) { heard += number > 0; }
int main(void)
{
    const int numbers[] = { SIGTRAP, SIGURG, SIGSTKFLT, SIGPROF };
    for (int i = 0; i < 4; i++) {
        int number = numbers[i];
        heard = 0;
        printf("%d", sigset(number, hear) == SIG_DFL);
        work(50);
        raise(number);
        printf("%d", heard);
        printf("%d", sigset(number, SIG_HOLD) == hear);
        raise(number);
        printf("%d", heard);
        printf("%d", sigset(number, hear) == SIG_HOLD);
        printf("%d", heard);
        sigignore(number);
        raise(number);
        printf("%d", sigset(number, SIG_DFL) == SIG_IGN);
        puts(heard == 2 ? "" : " ticks");
    }
    errno = 0;
    printf("%d", sigset(0, hear) == SIG_ERR && errno == EINVAL);
    printf("%d\\n", sigset(SIGKILL, hear) == SIG_ERR && errno == EINVAL);
    return 0;
}
"""


@WAYS
def test_a_handler_that_is_set_the_old_way_hears_no_tick(answer, timer):
    assert answer(SYSTEM_V, "--timer", timer) == "1111121\n" * 4 + "11\n"


FREED_STACK = """
static void hear(int number) { (void)number; }
int main(void)
{
    stack_t stack = { .ss_size = 65536 };
    stack.ss_sp = mmap(NULL, stack.ss_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    signal(SIGUSR1, hear);
    sigaltstack(&stack, NULL);
    munmap(stack.ss_sp, stack.ss_size);
    work(200);
    raise(SIGUSR1);
    puts("alive");
    return 0;
}
"""


@WAYS
def test_an_alternate_stack_that_no_handler_uses_may_be_freed(answer, timer):
    assert answer(FREED_STACK, "--timer", timer) == "alive\n"


SMALL_STACKS = """
#include <ucontext.h>
static ucontext_t away, back;
static char small[8192] __attribute__((aligned(16)));
static void hear(int number) { (void)number; }
static void coroutine(void) { work(200); }
int main(void)
{
    struct sigaction action = { .sa_handler = hear, .sa_flags = SA_ONSTACK };
    stack_t stack = { .ss_size = 65536 };
    int touched = 0;
    work(20); /* ticks have come */
    stack.ss_sp = malloc(stack.ss_size);
    sigaltstack(&stack, NULL);
    sigaction(SIGUSR1, &action, NULL);
    getcontext(&away);
    away.uc_stack = (stack_t){ .ss_sp = small, .ss_size = sizeof small };
    away.uc_link = &back;
    makecontext(&away, coroutine, 0);
    memset(small, 0x55, sizeof small / 2);
    swapcontext(&back, &away);
    for (unsigned long i = sizeof small - 1024; i-- > 0;)
        touched += small[i] != 0x55 && i < sizeof small / 2;
    printf("%d\\n", touched);
    return 0;
}
"""


@WAYS
def test_where_handlers_use_an_alternate_stack_ticks_do_so_too(answer, timer):
    """Go's goroutines and OCaml's fibers live on stacks that have no room for a handler."""
    assert answer(SMALL_STACKS, "--timer", timer) == "0\n"


IGNORED = """
int main(void)
{
    signal(SIGTRAP, SIG_IGN);
    work(30);
    raise(SIGTRAP);
    signal(SIGTRAP, SIG_DFL);
    work(200);
    puts("alive");
    return 0;
}
"""


def test_one_that_ignored_traps_for_a_while_lives_on(answer):
    assert answer(IGNORED) == "alive\n"


NO_COUNTER = """
int main(int count, char **words)
{
    static volatile unsigned long sum;
    FORBID(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
    if (count > 1)
        fork();
    for (int i = 0; i < 100000000; i++)
        sum += i;
    if (write(1, "alive\\n", 6) < 0)
        return 1;
    while (wait(NULL) > 0)
        continue;
    return !words;
}
"""


@pytest.mark.skipif(platform.machine() != "x86_64", reason="others have no such counter")
@pytest.mark.parametrize("words", [[], ["and its child"]])
@pytest.mark.parametrize("call", ["prctl", "syscall"])
def test_one_that_may_not_read_the_processors_clock_is_sampled(run, compiled, call, words):
    define = "#define FORBID(...) " + ("prctl(__VA_ARGS__)" if call == "prctl" else
                                       "syscall(SYS_prctl, __VA_ARGS__)")
    program = compiled("no_counter", WORK + f"#include <sys/syscall.h>\n{define}\n" + NO_COUNTER)
    ended = run([program, *words], "--quiet", "--stats")
    assert (ended.stdout, ended.returncode) == ("alive\n" * (1 + len(words)), 0)
    assert delivered(ended.stderr) > 5


ALL_KEYS = """
enum { KEYS = 1024 };
static pthread_key_t keys[KEYS];
static int ended[KEYS];
static void end(void *count) { ++*(int *)count; }
static void *body(void *count)
{
    for (int i = 0; i < *(int *)count; i++)
        pthread_setspecific(keys[i], &ended[i]);
    work(30);
    return NULL;
}
static void run_thread(int count)
{
    pthread_t thread;
    pthread_create(&thread, NULL, body, &count);
    pthread_join(thread, NULL);
}
int main(void)
{
    int count = 0, wrong = 0;
    while (count < KEYS - 1 && pthread_key_create(&keys[count], end) == 0)
        count++;
    run_thread(count);
    while (count < KEYS && pthread_key_create(&keys[count], end) == 0)
        count++;
    run_thread(count);
    run_thread(count);
    for (int i = 0; i < KEYS; i++)
        wrong += ended[i] != (i < KEYS - 1 ? 3 : 2);
    printf("%d %d %d\\n", count, wrong, pthread_key_create(&keys[0], end) == EAGAIN);
    return 0;
}
"""


def test_every_key_of_thread_specific_data_is_the_programs(answer):
    assert answer(ALL_KEYS) == "1024 0 1\n"


@pytest.fixture
def other_root(tmp_path):
    """A folder with a shell and what it needs, and the words to run something as its root."""
    needed = subprocess.run(["ldd", "/bin/dash"], capture_output=True, text=True).stdout
    for file in ["/bin/dash", *re.findall(r"/\S+", needed)]:
        copy = tmp_path / "root" / file[1:]
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, copy)
    words = ["unshare", "-r"]
    if subprocess.run([*words, "chroot", tmp_path / "root", "/bin/dash", "-c", ":"]).returncode:
        pytest.skip("needs user namespaces")
    return str(tmp_path / "root"), words


@pytest.mark.parametrize("options", [[], ["--alloc"]], ids=["", "alloc"])
def test_in_another_root_the_loader_does_not_miss_the_library(run, other_root, options):
    folder, words = other_root
    inside = ["/bin/dash", "-c", "echo in; /bin/dash -c 'echo deeper'"]
    ended = run([*words, "chroot", folder, *inside], "--quiet", *options)
    assert (ended.stdout, ended.stderr, ended.returncode) == ("in\ndeeper\n", "", 0)


GO_AND_COME_BACK = """
import os, subprocess, sys
root = os.open("/", os.O_RDONLY)
os.chroot(sys.argv[1])
subprocess.run(["/bin/dash", "-c", "echo $LD_PRELOAD"], check=True)
os.fchdir(root)
os.chroot(".")
subprocess.run(["/bin/dash", "-c", "echo $LD_PRELOAD"], check=True)
"""


@pytest.mark.parametrize("beside", [["alloc"], ["lock"], ["alloc", "lock"]])
def test_who_comes_back_finds_the_libraries_beside_ours_too(run, other_root, beside):
    folder, words = other_root
    options = [f"--{one}" for one in beside]
    ended = run([*words, sys.executable, "-c", GO_AND_COME_BACK, folder], "--quiet", *options)
    inside, outside = ended.stdout.splitlines()
    assert inside == ""
    assert [one.rpartition("/")[2] for one in outside.split(":")] == ["libisoscope.so.0", *[f"libisoscope_{one}.so" for one in beside]]


@pytest.mark.parametrize("others", ["", "/lib/none.so"])
def test_who_comes_back_from_another_root_finds_the_library_as_before(run, other_root, others):
    folder, words = other_root
    environment = {**os.environ, "LD_PRELOAD": others}
    ended = run([*words, sys.executable, "-c", GO_AND_COME_BACK, folder], "--quiet",
                env=environment)
    inside, outside = ended.stdout.splitlines()
    assert (inside, outside.split(":")[1:]) == (others, [others] if others else [])
    assert "/libisoscope.so" in outside.split(":")[0]


def test_nothing_secret_stands_in_its_environment(run):
    names = run(["env"], "--quiet").stdout
    assert "ISOSCOPE_SOCKET=" in names and "SECRET" not in names


COUNT_WHAT_IS_OURS = """
#include <dirent.h>
#include <sys/stat.h>
static int entries(const char *path)
{
    DIR *folder = opendir(path);
    int count = 0;
    while (folder && readdir(folder))
        count++;
    closedir(folder);
    return count - 2;
}
static void *in_a_thread(void *unused)
{
    work(50);
    return unused;
}
int main(void)
{
    pthread_t thread;
    work(50);
    pthread_create(&thread, NULL, in_a_thread, NULL);
    pthread_join(thread, NULL);
    /* The kernel may not be done with it yet; one of ours would stay. */
    for (int i = 0; i < 5000 && entries("/proc/self/task") > 1; i++)
        usleep(1000);
    /* One descriptor more, while the folder is read. */
    printf("%d threads, descriptors %d", entries("/proc/self/task"), entries("/proc/self/fd") - 1);
    fflush(stdout);
    if (fork() == 0) {
        work(50);
        printf("; child %d, %d\\n", entries("/proc/self/task"), entries("/proc/self/fd") - 1);
        return 0;
    }
    return wait(NULL) < 0;
}
"""


@WAYS
def test_there_is_no_thread_and_no_descriptor_of_ours(answer, compiled, timer):
    alone = subprocess.run([compiled("asks_alone", WORK + COUNT_WHAT_IS_OURS, "-pthread")],
                           capture_output=True, text=True, check=True)
    assert alone.stdout.startswith("1 threads")
    assert answer(COUNT_WHAT_IS_OURS, "--timer", timer) == alone.stdout


FEW_PROCESSES = """
#include <sys/resource.h>
static void *in_a_thread(void *unused)
{
    pause();
    return unused;
}
int main(void)
{
    const struct rlimit two = { 2, 2 };
    pthread_t thread;
    if (setuid(61234) < 0) /* a user who has no other process */
        return 1;
    setrlimit(RLIMIT_NPROC, &two);
    work(100);
    for (int i = 0; i < 2; i++)
        printf("%s", pthread_create(&thread, NULL, in_a_thread, NULL) == 0 ? "room " : "full ");
    work(100);
    return 0;
}
"""


@WAYS
def test_who_may_have_two_threads_has_two(answer, timer):
    if os.geteuid() != 0:
        pytest.skip("only root becomes another user")
    assert answer(FEW_PROCESSES, "--timer", timer) == "room full "


ALONE_IN_ITS_PROCESS = """
#include <sched.h>
int main(void)
{
    work(50);
    /* The kernel grants it to a process of one thread. */
    int error = unshare(CLONE_NEWUSER) < 0 ? errno : 0;
    work(200);
    printf("%s", error == 0 ? "granted" : error == EINVAL ? "several threads" : "forbidden");
    return 0;
}
"""


@WAYS
def test_a_program_of_one_thread_may_have_a_user_namespace(answer, compiled, timer):
    alone = subprocess.run([compiled("alone", WORK + ALONE_IN_ITS_PROCESS, "-pthread")],
                           capture_output=True, text=True, check=True)
    if alone.stdout != "granted":
        pytest.skip("the kernel forbids user namespaces here")
    assert answer(ALONE_IN_ITS_PROCESS, "--timer", timer) == "granted"
