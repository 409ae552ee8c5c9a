#include "inherited.h"

#include <fcntl.h>
#include <stddef.h>
#include <unistd.h>

enum {
    FILES_WANTED = 16384, /* three for each of 4096 feeds, clients, and room */
};

/* A descriptor of ours that became number 2 would get our messages. */
static void occupy_standard_descriptors(void)
{
    int fd;

    do {
        fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    } while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        close(fd);
}

/* More would be of no use: some containers set the limit to a billion. */
static void set_file_limit(const struct rlimit *inherited)
{
    struct rlimit limit = *inherited;

    limit.rlim_cur = limit.rlim_max < FILES_WANTED ? limit.rlim_max : FILES_WANTED;
    setrlimit(RLIMIT_NOFILE, &limit);
}

void inherited_save(struct inherited *out)
{
    struct sigaction action;

    sigprocmask(SIG_SETMASK, NULL, &out->mask);
    sigemptyset(&out->ignored);
    for (int number = 1; number <= SIGRTMAX; number++)
        if (sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN)
            sigaddset(&out->ignored, number);
    getrlimit(RLIMIT_NOFILE, &out->files);

    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a write beyond the limit of files is an error like any other */
    signal(SIGCHLD, SIG_DFL); /* ignored, it would swallow the program's exit status */
    occupy_standard_descriptors();
    set_file_limit(&out->files);
}

void inherited_restore(const struct inherited *inherited)
{
    static const int changed[] = { SIGPIPE, SIGXFSZ, SIGCHLD };

    for (size_t i = 0; i < sizeof(changed) / sizeof(changed[0]); i++)
        signal(changed[i], sigismember(&inherited->ignored, changed[i]) == 1 ? SIG_IGN : SIG_DFL);
    setrlimit(RLIMIT_NOFILE, &inherited->files);
    sigprocmask(SIG_SETMASK, &inherited->mask, NULL);
}
