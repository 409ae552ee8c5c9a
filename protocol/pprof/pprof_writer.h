/*
 * pprof_writer.h - a pprof profile (profile.proto, unzipped) as a reply that is composed while it is
 * sent.
 *
 *   pprof_tables, pprof_samples, what the profile is about -> pprof_writer_new -> reply_stream
 */
#ifndef ISOSCOPE_PPROF_WRITER_H
#define ISOSCOPE_PPROF_WRITER_H

#include "pprof_samples.h"
#include "../rpc/reply_stream.h"

enum { PPROF_COMMENTS_MAX = 6, PPROF_COMMENT_BYTES = 256 };

struct pprof_type {
    const char *type, *unit;
};

/* Which values a sample has: pairs of how many and how much; of what there are no samples, one. */
struct pprof_columns {
    struct pprof_type types[2 * PPROF_PAIRS_MAX];
    unsigned count;
    struct pprof_type period;
};

struct pprof_profile {
    struct pprof_tables tables;
    struct pprof_samples samples;
    const struct pprof_columns *columns;
    const char *default_type;
    uint64_t time_ns; /* when it begins; since 1970 */
    uint64_t duration_ns, period;
    char comments[PPROF_COMMENTS_MAX][PPROF_COMMENT_BYTES];
    unsigned comment_count;
    /* For otlp_writer.h: */
    struct json_text resource; /* its fields */
    uint8_t id[16];            /* of the first column's; the others' have another last byte */
    const char *version;       /* of isoscope */
};

/* One more; what does not fit is left out. */
__attribute__((format(printf, 2, 3))) void pprof_comment(struct pprof_profile *profile,
                                                         const char *format, ...);
void pprof_profile_free(struct pprof_profile *profile); /* NULL is fine */

/* Takes over profile, also on failure: NULL, out of memory. */
struct reply_stream *pprof_writer_new(struct pprof_profile *profile);

#endif
