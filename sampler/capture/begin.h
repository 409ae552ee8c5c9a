/*
 * begin.h - the last step of a start, of a program or of a forked child: ticks count from now on.
 *
 * Threads    Who starts the sampler, or holds its lock.
 * Errors     0, or a negative isoscope_error; then there is no sampler.
 */
#ifndef ISOSCOPE_BEGIN_H
#define ISOSCOPE_BEGIN_H

#include "../feed/message.h"
#include "../feed/signal_safe.h"

/* There is a feed with the calling thread in it. Takes over memfd. */
SIGNAL_SAFE int begin_ticks(enum feed_origin origin, int memfd);

#endif
