/*
 * signals.h - what isoscope does with a signal while it stands between its caller and the program.
 *
 * The terminal sends its signals (Ctrl-C, Ctrl-Z, a new window size) to the whole foreground group,
 * the program included: those are not passed on, or the program would get them twice. What somebody
 * sends to isoscope alone is meant for the program.
 */
#ifndef ISOSCOPE_SIGNALS_H
#define ISOSCOPE_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

struct signal_seen {
    int number;
    int code;               /* si_code: > 0 when the kernel (the terminal) sent it */
    bool program_runs;      /* has not ended yet */
    bool program_continued; /* somebody else has continued it already */
    bool session_leader;    /* we are: a hangup then comes to us alone */
    bool ignored;           /* our caller had it ignored (nohup) */
};

enum signal_action {
    SIGNAL_DROP,
    SIGNAL_PASS_ON, /* send it to the program */
    SIGNAL_REAP,    /* the program changed its state */
    SIGNAL_STOP,    /* stop like any program (Ctrl-Z) */
    SIGNAL_END,     /* stop serving */
};

enum signal_action signal_action(const struct signal_seen *seen);

/* The signals to take, instead of letting them act on isoscope. */
void signals_taken(sigset_t *out);

#endif
