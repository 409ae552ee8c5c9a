/*
 * cpu_samples_writer.h - a snapshot on its way out as a CpuSamples reply, piece by piece.
 *
 *   snapshot -> dialect (one sample, one function ... at a time) -> carry -> buffers of any size
 *
 * It costs the carry and the text of each different frame, once.
 *
 * Ownership  The writer owns the snapshot and copies the rest of its options.
 * Threads    The service thread.
 */
#ifndef ISOSCOPE_CPU_SAMPLES_WRITER_H
#define ISOSCOPE_CPU_SAMPLES_WRITER_H

#include "../rpc/reply_stream.h"
#include "../../sampler/profile/snapshot.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cpu_samples_dialect;

extern const struct cpu_samples_dialect cpu_samples_public;  /* getCpuSamples */
extern const struct cpu_samples_dialect cpu_samples_article; /* _getCpuSamples */

struct cpu_samples_options {
    const struct cpu_samples_dialect *dialect;
    const char *envelope; /* the reply's text before the value of "result"; "}" is put behind */
    const char *counters; /* JSON of "_counters" */
    int32_t pid;
    bool tells_progress; /* of what symbols says: names may be missing */
    struct profile_symbols symbols;
    bool codes;            /* "_codes" too; the public dialect's */
    bool pcs;              /* frames say where in their module they are; the article's */
    enum sample_kind kind; /* what the article's dialect says of a sample */
    bool several;          /* processes were asked for, so samples say whose they are */
    const char *user_tag;  /* they are CachedCpuSamples of it; NULL: they are CpuSamples */
    bool evicted;          /* older ones of them may be gone */
};

/* Takes over the snapshot, also when it fails: -ISOSCOPE_NO_MEMORY. */
int cpu_samples_writer_new(struct reply_stream **out, struct snapshot *snapshot,
                           const struct cpu_samples_options *options);

#endif
