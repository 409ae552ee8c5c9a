/*
 * cpu_samples_dialect.h - what differs between the two shapes of CpuSamples.
 *
 * Each function writes one whole JSON value (or the members a comment names), without commas around
 * it.
 */
#ifndef ISOSCOPE_CPU_SAMPLES_DIALECT_H
#define ISOSCOPE_CPU_SAMPLES_DIALECT_H

#include "cpu_samples_writer.h"
#include "frame_texts.h"
#include "sample_codes.h"
#include "../text/json_writer.h"
#include "../text/tags.h"

/* What the functions below may look at while a reply is written. */
struct cpu_samples_view {
    const struct snapshot_function *functions;
    const struct snapshot_frame *frames;
    const struct snapshot_library *libraries;
    uint32_t function_count, frame_count, library_count;
    struct frame_texts frame_texts;
    struct sample_codes codes; /* where the client asked for them */
    bool pcs;                  /* each frame says where in its module it is */
    enum sample_kind kind;
    bool several;       /* processes may be in it: each sample says whose it is */
    struct tags tags;   /* of the samples so far */
    uint64_t truncated; /* samples so far whose stack is not whole */
};

struct cpu_samples_dialect {
    /* A frame of a stack: composed once, copied into each stack. */
    void (*frame)(struct json_text *text, const struct cpu_samples_view *view,
                  const struct snapshot_frame *frame);
    void (*sample)(struct json_text *text, struct cpu_samples_view *view,
                   const struct snapshot_sample *sample);
    void (*function)(struct json_text *text, const struct cpu_samples_view *view, uint32_t index);
    /* A third kind of entry, behind the functions: in their list, or in one of its own. */
    const char *third_list; /* its name; NULL: they go on in "functions" */
    uint32_t (*third_count)(const struct cpu_samples_view *view);
    void (*third)(struct json_text *text, const struct cpu_samples_view *view, uint32_t index);
    /* "_codes", where they are wanted; the dialect that has none has no count either. */
    uint32_t (*code_count)(const struct cpu_samples_view *view);
    void (*code)(struct json_text *text, const struct cpu_samples_view *view, uint32_t index);
};

#endif
