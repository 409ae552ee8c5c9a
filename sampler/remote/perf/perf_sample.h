/*
 * perf_sample.h - a sample of perf's, taken apart: whose it is, the kernel's part of its stack, registers and a copy of the stack of
 * user mode.
 *
 * Ownership  What is found lies in the record.
 * Threads    Any.
 * Errors     perf_sample_read: false, the record is shorter than it says.
 * Source     perf_event_open(2), "PERF_RECORD_SAMPLE".
 */
#ifndef ISOSCOPE_PERF_SAMPLE_H
#define ISOSCOPE_PERF_SAMPLE_H

#include "perf_events.h"

#include "../target/target.h"

#include <linux/perf_event.h>

/* Of all samples; with no others at the end of records. */
struct perf_sample_head {
    uint32_t pid, tid;
    uint64_t at_ns;
};

struct perf_sample {
    const struct perf_sample_head *head;
    const uint64_t *kernel; /* addresses, leaf first; where it was in user mode: none */
    uint64_t kernel_count;
    const uint8_t *raw; /* a tracepoint's data; NULL: it is none's */
    uint32_t raw_bytes;
    const uint64_t *registers; /* NULL: a thread of the kernel's, which has none */
    const uint8_t *stack;
    uint64_t stack_bytes;
};

/* wish: of the event that it is of. */
bool perf_sample_read(const struct perf_event_header *record, const struct perf_wish *wish,
                      struct perf_sample *out);
/* Of one with registers, which are put into registers. */
struct target_sample perf_sample_target(const struct perf_sample *sample, ucontext_t *registers);

#endif
