/*
 * push_request.h - what an engine is sent: where it goes, and a profile's labels in its words.
 *
 *   http://host:4040, .../ingest           Pyroscope's /ingest: labels in the query, the profile is the body
 *   .../push.v1.PusherService/Push         its push API: JSON, with the profile in base64
 *   otlp+http://host:4318, .../profiles    an OTLP receiver: all is in the body
 *
 * Errors     0, or -ISOSCOPE_INVALID with a sentence in error; -ISOSCOPE_NO_MEMORY.
 */
#ifndef ISOSCOPE_PUSH_REQUEST_H
#define ISOSCOPE_PUSH_REQUEST_H

#include "../../protocol/text/json_writer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PUSH_LABELS_MAX = 24, /* a series has 30 at most; some are the engine's own */
    PUSH_LABELS_OURS = 8,
    PUSH_LABEL_NAME_BYTES = 64,
    PUSH_LABEL_VALUE_BYTES = 128,
    PUSH_URL_BYTES = 1024,
};

struct push_label {
    char name[PUSH_LABEL_NAME_BYTES], value[PUSH_LABEL_VALUE_BYTES];
};

struct push_labels {
    struct push_label list[PUSH_LABELS_MAX];
    unsigned count;
};

enum push_form { PUSH_INGEST, PUSH_API, PUSH_OTLP };

struct push_target {
    char url[PUSH_URL_BYTES];
    enum push_form form;
};

/* Why it is no address that anything can be sent to, said behind it; NULL: it is one. */
const char *push_address_problem(const char *url);
int push_target_read(struct push_target *out, const char *url, char *error, size_t error_size);

/* "name=value". Names that OpenTelemetry has for labels of ours become ours. */
int push_label_read(struct push_labels *labels, const char *text, char *error, size_t error_size);
/* What is there has no place, or a name that is there, is passed over. Bytes of value that a label
 * cannot have become '_'. */
void push_label_add(struct push_labels *labels, const char *name, const char *value);

/* service_name, where it is not there: the last part of a program's path. */
void push_label_add_program(struct push_labels *labels, const char *path);

#define PUSH_PID    "pid"    /* the label that is a number for OTLP */
#define PUSH_STALLS "stalls" /* the kind whose content are logs, not a profile; OTLP only */

/* What is pushed: its labels, of which service_name is one, and its times. */
struct push_profile {
    struct push_labels labels;
    char kind[16];            /* "process_cpu" */
    int64_t begin_ms, end_ms; /* since 1970 */
};

/* What OpenTelemetry calls a label. */
const char *push_otlp_name(const char *label);
/* The first label whose name only OTLP can have; NULL: there is none. */
const char *push_dotted_label(const struct push_labels *labels);

/* Both end with a 0 that does not count. */
int push_request_url(struct json_text *out, const struct push_target *target,
                     const struct push_profile *profile);
int push_request_json(struct json_text *out, const struct push_profile *profile, const char *bytes,
                      size_t length);

#endif
