/* starts_programs vfork|fork|spawn|system|popen: starts itself again and again while ticks rain. */
#include "torture.h"

#include <spawn.h>

enum { STARTS = 40, STATUS = 7 };

extern char **environ;

static char child[] = "child";

static pid_t spawned(void)
{
    char *words[] = { "/proc/self/exe", child, NULL };
    pid_t pid;

    CHECK(posix_spawn(&pid, words[0], NULL, NULL, words, environ) == 0);
    return pid;
}

static pid_t vforked(void)
{
    char *words[] = { "/proc/self/exe", child, NULL };
    pid_t pid = vfork();

    if (pid == 0) {
        execve(words[0], words, environ);
        _exit(126);
    }
    return pid;
}

/* The child ticks, too, when it becomes the program. */
static pid_t forked(void)
{
    pid_t pid = fork();

    if (pid == 0) {
        spin_us(500);
        execl("/proc/self/exe", "/proc/self/exe", child, (char *)NULL);
        _exit(126);
    }
    return pid;
}

static bool by_shell(const char *how, const char *self)
{
    char line[512];
    FILE *pipe;
    int status;

    snprintf(line, sizeof line, "'%s' %s", self, child);
    if (!strcmp(how, "system")) {
        status = system(line);
    } else {
        pipe = popen(line, "r");
        CHECK(pipe && fgetc(pipe) == EOF);
        status = pclose(pipe);
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == STATUS;
}

static bool start(const char *how, const char *self)
{
    if (!strcmp(how, "spawn"))
        return ends_with(spawned(), STATUS);
    if (!strcmp(how, "vfork"))
        return ends_with(vforked(), STATUS);
    if (!strcmp(how, "fork"))
        return ends_with(forked(), STATUS);
    return by_shell(how, self);
}

int main(int argc, char **argv)
{
    begin();
    CHECK(argc == 2);
    if (!strcmp(argv[1], child)) {
        spin(4);
        return STATUS;
    }
    for (int i = 0; i < STARTS; i++) {
        spin(2);
        CHECK(start(argv[1], argv[0]));
    }
    return fine();
}
