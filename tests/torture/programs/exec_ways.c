/*
 * exec_ways WAY LEFT: becomes itself again LEFT times, each time in the middle of the ticks.
 *
 * WAY is one of libc's calls, or where the call is made from. "fails": it does not become anything,
 * for each call is refused, and works on.
 */
#include "torture.h"

#include <limits.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/time.h>

enum { SPIN_US = 1000, PATH_ENTRIES = 100, FAILING_MS = 2, OTHER_THREADS = 3 };

extern char **environ;

static char self[] = "/proc/self/exe";
static char *words[4]; /* the program's arguments, next time */

static int open_self(void)
{
    int fd = open(self, O_RDONLY | O_CLOEXEC);

    CHECK(fd >= 0);
    return fd;
}

/* Its own name, at the end of a PATH that holds it nowhere else. */
static char *in_long_path(void)
{
    static char here[PATH_MAX], path[PATH_ENTRIES * 16 + PATH_MAX];
    ssize_t bytes = readlink(self, here, sizeof here - 1);
    char *name;

    CHECK(bytes > 0);
    here[bytes] = 0;
    name = strrchr(here, '/');
    *name++ = 0;
    path[0] = 0;
    for (int i = 0; i < PATH_ENTRIES; i++)
        snprintf(path + strlen(path), 16, "/not/here/%d:", i);
    strcat(path, here);
    CHECK(setenv("PATH", path, 1) == 0);
    return name;
}

static void use(const char *way)
{
    if (!strcmp(way, "execve"))
        execve(self, words, environ);
    else if (!strcmp(way, "execv"))
        execv(self, words);
    else if (!strcmp(way, "execvp"))
        execvp(in_long_path(), words);
    else if (!strcmp(way, "execvpe"))
        execvpe(in_long_path(), words, environ);
    else if (!strcmp(way, "execl"))
        execl(self, words[0], words[1], words[2], (char *)NULL);
    else if (!strcmp(way, "execlp"))
        execlp(in_long_path(), words[0], words[1], words[2], (char *)NULL);
    else if (!strcmp(way, "execle"))
        execle(self, words[0], words[1], words[2], (char *)NULL, environ);
    else if (!strcmp(way, "fexecve"))
        fexecve(open_self(), words, environ);
    else if (!strcmp(way, "execveat"))
        execveat(open_self(), "", words, environ, AT_EMPTY_PATH);
    else if (!strcmp(way, "syscall"))
        syscall(SYS_execve, self, words, environ);
    else if (!strcmp(way, "syscall at"))
        syscall(SYS_execveat, AT_FDCWD, self, words, environ, 0);
    else
        execve(self, words, environ);
    CHECK(!"exec");
}

static void *from_thread(void *unused)
{
    spin_us(SPIN_US);
    use("execve");
    return unused;
}

static void *works(void *unused)
{
    for (;;)
        spin(1);
    return unused;
}

/* The kernel ends the others, and the main thread's number becomes this one's. */
static void use_thread(void)
{
    pthread_t threads[OTHER_THREADS + 1];

    for (int i = 0; i < OTHER_THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, works, NULL) == 0);
    CHECK(pthread_create(&threads[OTHER_THREADS], NULL, from_thread, NULL) == 0);
    works(NULL);
}

static void on_alarm(int number)
{
    (void)number;
    use("execve");
}

static void use_handler(void)
{
    const struct itimerval soon = { { 0, 0 }, { 0, SPIN_US } };

    signal(SIGALRM, on_alarm);
    CHECK(setitimer(ITIMER_REAL, &soon, NULL) == 0);
    works(NULL);
}

static void set_all_signals(int how)
{
    sigset_t all;

    sigfillset(&all);
    CHECK(sigprocmask(how, &all, NULL) == 0);
}

/* A tick that came meanwhile waits, and is none of the new program's: with no environment this one
 * has nobody to take it. */
static void exec_blocked(void)
{
    char bare[] = "bare", none[] = "0", *list[] = { words[0], bare, none, NULL };

    set_all_signals(SIG_BLOCK);
    spin_us(SPIN_US);
    execve(self, list, (char *[]){ NULL });
    CHECK(!"exec");
}

static int start_blocked(int times)
{
    while (times-- > 0) {
        pid_t pid = fork();

        if (pid == 0)
            exec_blocked();
        CHECK(pid > 0 && ends_with(pid, 0));
        spin_us(SPIN_US);
    }
    return fine();
}

static void fail(void)
{
    char nobody[] = "nobody-is-called-this", *list[] = { nobody, NULL };

    (void)in_long_path();
    CHECK(execvp(nobody, list) < 0 && errno == ENOENT);
    CHECK(execlp(nobody, nobody, (char *)NULL) < 0 && errno == ENOENT);
    CHECK(execve("/", list, environ) < 0 && errno == EACCES);
    CHECK(execl("/dev/null", nobody, (char *)NULL) < 0 && errno == EACCES);
    CHECK(execv("", list) < 0 && errno == ENOENT);
    CHECK(fexecve(-1, list, environ) < 0 && errno == EINVAL);
    CHECK(execveat(-1, "x", list, environ, 0) < 0 && errno == EBADF);
    CHECK(syscall(SYS_execve, "/not/here", list, environ) < 0 && errno == ENOENT);
}

static int fail_and_work(int times)
{
    while (times-- > 0) {
        fail();
        spin(FAILING_MS);
    }
    return fine();
}

int main(int argc, char **argv)
{
    static char left[16];

    begin();
    CHECK(argc == 3);
    set_all_signals(SIG_UNBLOCK);
    if (!strcmp(argv[1], "fails"))
        return fail_and_work(atoi(argv[2]));
    words[0] = argv[0];
    words[1] = argv[1];
    words[2] = left;
    if (!strcmp(argv[1], "bare"))
        return 0;
    if (!strcmp(argv[1], "blocked"))
        return start_blocked(atoi(argv[2]));
    spin_us(SPIN_US);
    if (atoi(argv[2]) == 0)
        return fine();
    snprintf(left, sizeof left, "%d", atoi(argv[2]) - 1);
    if (!strcmp(argv[1], "thread"))
        use_thread();
    if (!strcmp(argv[1], "handler"))
        use_handler();
    use(argv[1]);
}
