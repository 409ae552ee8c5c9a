/*
 * otlp_writer.h - a profile as a request for an OTLP receiver (ExportProfilesServiceRequest), composed
 * while it is sent.
 *
 *   pprof_tables (otlp_table_fields), pprof_samples, a resource -> otlp_writer_new -> reply_stream
 *
 * OTLP's profile has one value a sample: each column becomes a profile of its own, those of amounts
 * first. What is 0 there has no sample. Stacks are in the dictionary, once each.
 *
 * A message's length stands before it, so all samples are composed twice: once to be measured.
 */
#ifndef ISOSCOPE_OTLP_WRITER_H
#define ISOSCOPE_OTLP_WRITER_H

#include "pprof_writer.h"

/* Of different stacks: a receiver takes 20 MiB at a time, where it is not told another limit. */
enum { OTLP_STACKS_BYTES = 8 << 20 };

/* Takes over profile, also on failure: NULL, out of memory. */
struct reply_stream *otlp_writer_new(struct pprof_profile *profile);

#endif
