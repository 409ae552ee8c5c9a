/*
 * stats.h - what the sampling of a run did, and what it cost (`isoscope run --stats`).
 */
#ifndef ISOSCOPE_STATS_H
#define ISOSCOPE_STATS_H

struct profile;

/* A few lines on stderr: the sum over all processes. */
void stats_say(struct profile *profile);

#endif
