/* Eight threads fork at the same time; each child starts a thread of its own. */
#include "torture.h"

enum { THREADS = 8, FORKS = 6 };

static void *in_child(void *done)
{
    spin(4);
    *(int *)done = 1;
    return NULL;
}

static void *forker(void *unused)
{
    for (int i = 0; i < FORKS; i++) {
        pid_t pid = fork();

        CHECK(pid >= 0);
        if (pid == 0) {
            int done = 0;

            run_threads(1, in_child, &done);
            _exit(done ? 30 + i : STATUS_CHECK_FAILED);
        }
        spin(2);
        CHECK(ends_with(pid, 30 + i));
    }
    return unused;
}

int main(void)
{
    begin();
    run_threads(THREADS, forker, NULL);
    return fine();
}
