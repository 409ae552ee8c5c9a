/*
 * metrics_text.h - Prometheus' text format, version 0.0.4, line by line.
 *
 *   # HELP isoscope_stalls_total Dispatches over the stall limit.
 *   # TYPE isoscope_stalls_total counter
 *   isoscope_stalls_total{process="redis-server",loop="main",thread="redis-server",cause="busy"} 3
 *
 * All lines of a name stand together, behind its two of HELP and TYPE. Labels are the text between the
 * braces: metrics_label makes it.
 *
 * Errors     As json_writer.h has them.
 */
#ifndef ISOSCOPE_METRICS_TEXT_H
#define ISOSCOPE_METRICS_TEXT_H

#include "../text/json_writer.h"
#include "../../sampler/profile/stalls.h"

struct metric {
    const char *name, *type, *help; /* help: one line of plain text */
};

void metrics_begin(struct json_text *text, const struct metric *metric);

/* One label more. value: any bytes; what is no UTF-8 becomes U+FFFD. */
void metrics_label(struct json_text *labels, const char *name, const char *value);

/* Labels of length 0: none. */
void metrics_count(struct json_text *text, const struct metric *metric,
                   const struct json_text *labels, uint64_t value);
void metrics_seconds(struct json_text *text, const struct metric *metric,
                     const struct json_text *labels, uint64_t ns);
/* One label that comes and goes with the line: {labels,name="value"}. */
void metrics_count_of(struct json_text *text, const struct metric *metric,
                      const struct json_text *labels, const char *name, const char *value,
                      uint64_t count);
/* Its buckets, _sum and _count. */
void metrics_histogram(struct json_text *text, const struct metric *metric,
                       const struct json_text *labels, const struct loop_times *times);

#endif
