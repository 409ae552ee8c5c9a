/*
 * page_faults.h - whether page faults are sampled: an event beside the user clock.
 *
 *   preload.c (what the environment says) -> here -> announce.c -> the service, which holds the event
 *   handler_trap takes the samples
 *
 * The service switches it. A program that is not asked for any opens none.
 */
#ifndef ISOSCOPE_PAGE_FAULTS_H
#define ISOSCOPE_PAGE_FAULTS_H

#include "../feed/signal_safe.h"

#include <stdbool.h>
#include <stdint.h>

/* Before the sampler starts. faults: of which one is sampled; 0: none is. */
void page_faults_prepare(uint32_t faults);
/* With a new feed, which is told. may: perf events are possible here. -1: there is none. */
SIGNAL_SAFE int page_faults_open(bool may);

#endif
