/*
 * pull_paths.h - what can be pulled: the paths that Go's programs and gperftools' have, and which
 * samples each of ours gives.
 */
#ifndef ISOSCOPE_PULL_PATHS_H
#define ISOSCOPE_PULL_PATHS_H

#include "../pprof/pprof_writer.h"

enum { PULL_SECONDS_MAX = 600, PULL_KINDS_MAX = PPROF_PAIRS_MAX };

enum pull_what { PULL_INDEX, PULL_COMMAND, PULL_SYMBOLS, PULL_PROFILE };

/* What a sample's amount is. */
enum pull_amount {
    PULL_WEIGHTS, /* what it stands for */
    /* Of wall mode, whose samples stand for a period each: */
    PULL_WALL,
    PULL_OFF_CPU, /* only threads that waited, or were kept waiting for a processor */
};

struct pull_path {
    const char *name; /* "profile", behind "debug/pprof/" or "pprof/" */
    enum pull_what what;
    const char *text; /* for the index */
    /* Of a profile: */
    enum sample_kind kinds[PULL_KINDS_MAX]; /* each fills a pair of columns */
    unsigned kind_count;
    struct pprof_columns columns;
    const char *default_type;
    uint32_t seconds; /* where none are asked for; 0: all that is kept */
    enum pull_amount amount;
};

/* path: below the token, "debug/pprof/profile"; NULL: there is no such. gperftools: it is below
 * "pprof/". */
const struct pull_path *pull_path_find(const char *path, bool *gperftools);
/* The number-th; NULL behind the last one. */
const struct pull_path *pull_path_at(size_t number);

#endif
