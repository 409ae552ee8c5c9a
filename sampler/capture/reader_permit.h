/*
 * reader_permit.h - lets the service read the stacks of our sleeping threads, where the kernel asks
 * us.
 *
 *   hello -> reader_permit -> prctl(PR_SET_PTRACER)
 *
 * It matters with Yama's kernel.ptrace_scope 1, which is not asked for: that would cost each start
 * a file. With 1 a process is read by
 * its ancestors, and by one that it names: wall mode's reader is the service. It is no ancestor of
 * programs that were left to init. The kernel keeps one name for each process, and none for a
 * forked child: that one names the service with its own hello. A program that names a tracer of its
 * own has that one from then on.
 *
 * Threads    Any.
 * Errors     None: without the right wall mode counts what it cannot read (FEED_LOSS_NO_RIGHTS).
 * Source     the kernel's Documentation/admin-guide/LSM/Yama.rst
 */
#ifndef ISOSCOPE_READER_PERMIT_H
#define ISOSCOPE_READER_PERMIT_H

#include "../feed/signal_safe.h"

/* uplink: the socket; who listens at its other end may read us. */
SIGNAL_SAFE void reader_permit(int uplink);
/* The program of this process names its tracer itself. */
void reader_permit_leave(void);

#endif
