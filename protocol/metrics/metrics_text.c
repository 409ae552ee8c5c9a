#include "metrics_text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

/* Buckets that are told: below 32 microseconds all are one, above half a minute too. */
enum { BUCKET_FIRST = 4, BUCKET_LAST = 24 };

static void put(struct json_text *text, const char *words)
{
    json_text_raw(text, words, strlen(words));
}

void metrics_begin(struct json_text *text, const struct metric *metric)
{
    put(text, "# HELP ");
    put(text, metric->name);
    put(text, " ");
    put(text, metric->help);
    put(text, "\n# TYPE ");
    put(text, metric->name);
    put(text, " ");
    put(text, metric->type);
    put(text, "\n");
}

static void put_escaped(struct json_text *text, const char *value)
{
    const unsigned char *at = (const unsigned char *)value;
    size_t left = strlen(value);

    while (left) {
        size_t length = utf8_character(at, left);

        if (*at == '\n')
            json_text_literal(text, "\\n");
        else if (*at == '"' || *at == '\\')
            json_text_raw(text, (const char[]){ '\\', (char)*at }, 2);
        else if (length)
            json_text_raw(text, (const char *)at, length);
        else
            json_text_literal(text, "\xef\xbf\xbd");
        length = length ? length : 1;
        at += length;
        left -= length;
    }
}

static void put_label(struct json_text *text, bool first, const char *name, const char *value)
{
    if (!first)
        json_text_literal(text, ",");
    put(text, name);
    json_text_literal(text, "=\"");
    put_escaped(text, value);
    json_text_literal(text, "\"");
}

void metrics_label(struct json_text *labels, const char *name, const char *value)
{
    put_label(labels, !labels->length, name, value);
}

/* The name, its ending, and all labels. name NULL: none besides labels. */
static void put_series(struct json_text *text, const struct metric *metric, const char *ending,
                       const struct json_text *labels, const char *name, const char *value)
{
    put(text, metric->name);
    put(text, ending);
    if (labels->length || name) {
        json_text_literal(text, "{");
        json_text_raw(text, labels->data, labels->length);
        if (name)
            put_label(text, !labels->length, name, value);
        json_text_literal(text, "}");
    }
    json_text_literal(text, " ");
}

static void put_count(struct json_text *text, uint64_t value)
{
    json_text_uint(text, value);
    json_text_literal(text, "\n");
}

static void put_seconds(struct json_text *text, uint64_t ns)
{
    char seconds[48];

    snprintf(seconds, sizeof(seconds), "%" PRIu64 ".%09" PRIu64 "\n", ns / 1000000000,
             ns % 1000000000);
    put(text, seconds);
}

void metrics_count(struct json_text *text, const struct metric *metric,
                   const struct json_text *labels, uint64_t value)
{
    put_series(text, metric, "", labels, NULL, NULL);
    put_count(text, value);
}

void metrics_seconds(struct json_text *text, const struct metric *metric,
                     const struct json_text *labels, uint64_t ns)
{
    put_series(text, metric, "", labels, NULL, NULL);
    put_seconds(text, ns);
}

void metrics_count_of(struct json_text *text, const struct metric *metric,
                      const struct json_text *labels, const char *name, const char *value,
                      uint64_t count)
{
    put_series(text, metric, "", labels, name, value);
    put_count(text, count);
}

/* Where a bucket ends, in seconds. */
static void put_bucket(struct json_text *text, const struct metric *metric,
                       const struct json_text *labels, int bucket, uint64_t count)
{
    char bound[24];

    snprintf(bound, sizeof(bound), "%.9g", (double)(UINT64_C(2) << bucket) / 1e6);
    put_series(text, metric, "_bucket", labels, "le", bound);
    put_count(text, count);
}

void metrics_histogram(struct json_text *text, const struct metric *metric,
                       const struct json_text *labels, const struct loop_times *times)
{
    uint64_t count = 0;

    for (int i = 0; i < LOOP_BUCKETS; i++) {
        count += times->buckets[i];
        if (i >= BUCKET_FIRST && i <= BUCKET_LAST)
            put_bucket(text, metric, labels, i, count);
    }
    put_series(text, metric, "_bucket", labels, "le", "+Inf");
    put_count(text, count);
    put_series(text, metric, "_sum", labels, NULL, NULL);
    put_seconds(text, times->sum_ns);
    put_series(text, metric, "_count", labels, NULL, NULL);
    put_count(text, count);
}
