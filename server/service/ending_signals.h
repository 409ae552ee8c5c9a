/*
 * ending_signals.h - the signals that ask a command to end, as a descriptor.
 *
 * Threads    Before others are there: they inherit what is blocked.
 */
#ifndef ISOSCOPE_ENDING_SIGNALS_H
#define ISOSCOPE_ENDING_SIGNALS_H

/* A signalfd, of the caller's; -1 with errno. A hangup that our caller has ignored (nohup) stays so. */
int ending_signals(void);

#endif
