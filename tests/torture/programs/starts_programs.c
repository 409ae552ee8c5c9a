/* starts_programs vfork|spawn: starts itself again and again while ticks rain. */
#include "torture.h"

#include <spawn.h>

enum { STARTS = 40, STATUS = 7 };

extern char **environ;

static pid_t start(bool by_vfork)
{
    char *words[] = { "/proc/self/exe", "child", NULL };
    pid_t pid;

    if (!by_vfork) {
        CHECK(posix_spawn(&pid, words[0], NULL, NULL, words, environ) == 0);
        return pid;
    }
    pid = vfork();
    if (pid == 0) {
        execve(words[0], words, environ);
        _exit(126);
    }
    CHECK(pid > 0);
    return pid;
}

int main(int argc, char **argv)
{
    begin();
    CHECK(argc == 2);
    if (!strcmp(argv[1], "child")) {
        spin(4);
        return STATUS;
    }
    for (int i = 0; i < STARTS; i++) {
        spin(2);
        CHECK(ends_with(start(!strcmp(argv[1], "vfork")), STATUS));
    }
    return fine();
}
