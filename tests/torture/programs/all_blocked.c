/* Works with all signals blocked, in several threads, then unblocks them: nothing was lost, nothing
 * breaks. */
#include "torture.h"

#include <signal.h>

static _Atomic int seen;

static void count(int number)
{
    seen += number == SIGUSR1;
}

static void *body(void *unused)
{
    sigset_t all, before;

    sigfillset(&all);
    for (int i = 0; i < 20; i++) {
        CHECK(pthread_sigmask(SIG_SETMASK, &all, &before) == 0);
        CHECK(pthread_kill(pthread_self(), SIGUSR1) == 0);
        spin(3);
        CHECK(pthread_sigmask(SIG_SETMASK, &before, NULL) == 0);
        spin(3);
    }
    return unused;
}

int main(void)
{
    struct sigaction action = { .sa_handler = count };

    begin();
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    run_threads(3, body, NULL);
    CHECK(seen == 60);
    return fine();
}
