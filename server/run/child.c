#include "child.h"

#include "../../sampler/include/isoscope/isoscope.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* A file without any format is a shell script to execvp, and so to everybody. */
static void exec_by_shell(const struct child_plan *plan)
{
    size_t count = 0;

    while (plan->arguments[count])
        count++;

    char *arguments[count + 2]; /* no malloc between fork and exec */
    arguments[0] = (char *)"sh";
    arguments[1] = (char *)plan->path;
    for (size_t i = 1; i <= count; i++)
        arguments[i + 1] = plan->arguments[i];
    execve("/bin/sh", arguments, plan->environment);
}

static _Noreturn void become(const struct child_plan *plan, int report)
{
    for (int i = 0; plan->output && i < 2; i++)
        if (plan->output[i] >= 0)
            dup2(plan->output[i], STDOUT_FILENO + i);
    inherited_restore(plan->inherited);
    execve(plan->path, plan->arguments, plan->environment);
    if (errno == ENOEXEC)
        exec_by_shell(plan);

    int problem = errno;
    ssize_t written = write(report, &problem, sizeof(problem));
    (void)written; /* the parent sees the end of the pipe at least, and our status */
    _exit(127);
}

int child_start(pid_t *out, const struct child_plan *plan, int *problem)
{
    int report[2];

    *problem = 0;
    if (pipe2(report, O_CLOEXEC) < 0) {
        *problem = -errno;
        return -ISOSCOPE_SYSTEM;
    }

    pid_t pid = fork();
    if (pid == 0)
        become(plan, report[1]);
    if (pid < 0)
        *problem = -errno;
    close(report[1]);
    /* Ends when exec has closed the child's end; has a word in it when exec failed. */
    while (pid > 0 && read(report[0], problem, sizeof(*problem)) < 0 && errno == EINTR)
        continue;
    close(report[0]);
    if (*problem) {
        if (pid > 0)
            waitpid(pid, NULL, 0);
        return -ISOSCOPE_SYSTEM;
    }
    *out = pid;
    return 0;
}

int child_end_like(int wait_status)
{
    if (!WIFSIGNALED(wait_status))
        return WEXITSTATUS(wait_status);

    int number = WTERMSIG(wait_status);
    sigset_t set;

    /* The program has left its core already; a second one would take its name. */
    prctl(PR_SET_DUMPABLE, 0);
    signal(number, SIG_DFL);
    sigemptyset(&set);
    sigaddset(&set, number);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    raise(number);
    return 128 + number; /* process 1 of a container cannot die of most signals */
}
