#include "signals.h"

#include <stddef.h>

static const int taken[] = {
    SIGCHLD, SIGHUP,  SIGINT,  SIGQUIT, SIGTERM,   SIGUSR1, SIGUSR2, SIGALRM,  SIGCONT,
    SIGTSTP, SIGTTIN, SIGTTOU, SIGURG,  SIGVTALRM, SIGPROF, SIGIO,   SIGWINCH, SIGPWR,
};

void signals_taken(sigset_t *out)
{
    sigemptyset(out);
    for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++)
        sigaddset(out, taken[i]);
    for (int number = SIGRTMIN; number <= SIGRTMAX; number++)
        sigaddset(out, number);
}

/* The program has ended, so isoscope is a program of its own, with the usual habits. */
static enum signal_action own_action(const struct signal_seen *seen)
{
    switch (seen->number) {
    case SIGHUP:
    case SIGINT:
    case SIGQUIT:
    case SIGTERM:
        return seen->ignored ? SIGNAL_DROP : SIGNAL_END;
    case SIGTSTP:
    case SIGTTIN:
    case SIGTTOU:
        return seen->ignored ? SIGNAL_DROP : SIGNAL_STOP;
    default:
        return SIGNAL_DROP;
    }
}

enum signal_action signal_action(const struct signal_seen *seen)
{
    bool from_kernel = seen->code > 0;

    if (seen->number == SIGCHLD)
        return SIGNAL_REAP;
    if (!seen->program_runs)
        return own_action(seen);
    /* A shell continues the whole job, the program included. */
    if (seen->number == SIGCONT)
        return seen->program_continued ? SIGNAL_DROP : SIGNAL_PASS_ON;
    if (from_kernel && !(seen->number == SIGHUP && seen->session_leader))
        return SIGNAL_DROP;
    return SIGNAL_PASS_ON;
}
