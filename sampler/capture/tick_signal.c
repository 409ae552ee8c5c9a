#include "tick_signal.h"

#include <stddef.h>
#include <string.h>

static const int candidates[] = {
    SIGURG,
#ifdef SIGSTKFLT
    SIGSTKFLT, /* nothing in Linux sends it */
#endif
    SIGPROF,
};

static bool install(int number, void (*handler)(int, siginfo_t *, void *))
{
    struct sigaction action;

    memset(&action, 0, sizeof action);
    action.sa_sigaction = handler;
    /* On the alternate stack where the thread has one: a small stack may be nearly full. */
    action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
    /* All of them, libc's own too: a cancellation that unwinds out of our handler, or a handler
     * that jumps out of it, would leave us counted in for ever. sigfillset leaves libc's out. */
    memset(&action.sa_mask, 0xff, sizeof action.sa_mask);
    return sigaction(number, &action, NULL) == 0;
}

int tick_signal_choose(void (*handler)(int, siginfo_t *, void *))
{
    for (size_t i = 0; i < sizeof candidates / sizeof candidates[0]; i++) {
        struct sigaction now;

        if (sigaction(candidates[i], NULL, &now) == 0 && now.sa_handler == SIG_DFL &&
            install(candidates[i], handler))
            return candidates[i];
    }
    return 0;
}

bool tick_signal_ours(int number, void (*handler)(int, siginfo_t *, void *))
{
    struct sigaction now;

    return sigaction(number, NULL, &now) == 0 && (now.sa_flags & SA_SIGINFO) &&
           now.sa_sigaction == handler;
}

void tick_signal_release(int number, void (*handler)(int, siginfo_t *, void *))
{
    struct sigaction action;

    if (!number || !tick_signal_ours(number, handler))
        return;
    memset(&action, 0, sizeof action);
    action.sa_handler = SIG_DFL;
    sigaction(number, &action, NULL);
}
