/*
 * session_writer.h - what is new of a profile, as the blocks of a session file.
 *
 *   store (views since the last time), processes, names -> session_writer -> blocks
 *
 *     session_writer_begin; session_writer_samples, _events and _stalls until 0, session_writer_tables, _names,
 *     again and again; session_writer_live, _names; session_writer_end
 *
 * Blocks are in an order in which a reader can read them: what a block refers to stands before it.
 *
 * Ownership  session_writer_new makes, session_writer_free releases. The options are borrowed.
 * Threads    One at a time.
 * Errors     0 or -ISOSCOPE_NO_MEMORY: then out is as it was, and what was to be told is lost to the
 *            file.
 */
#ifndef ISOSCOPE_SESSION_WRITER_H
#define ISOSCOPE_SESSION_WRITER_H

#include "../recorder.h"
#include "format/bytes.h"

struct session_writer;

/* recording: samples stay in the file when the store lets them go. */
int session_writer_new(struct session_writer **out, struct profile *profile,
                       const struct session_options *options, bool recording);
void session_writer_free(struct session_writer *writer); /* NULL is fine */

/* A new file, which is told all anew, but for samples that an earlier one has. */
int session_writer_begin(struct session_writer *writer, int64_t start_us, struct bytes *out);
/* Samples of a chunk that were not told yet, but for what lives. 1: there may be more. */
int session_writer_samples(struct session_writer *writer, struct bytes *out);
/* All that lives now, once in a file: before the last names. */
int session_writer_live(struct session_writer *writer, struct bytes *out);
/* As session_writer_samples, of events. */
int session_writer_events(struct session_writer *writer, struct bytes *out);
/* The same of stalls: those that have ended. */
int session_writer_stalls(struct session_writer *writer, struct bytes *out);
/* Processes, settings, loops, facts, the service's own. now_us: facts are looked at now and then. */
int session_writer_tables(struct session_writer *writer, int64_t now_us, struct bytes *out);
/* Asks for the names and lines of samples, and tells those that are known. waits: for how many
 * frames they are not. */
int session_writer_names(struct session_writer *writer, struct bytes *out, uint32_t *waits);
/* Slices that stand open, stalls that go on, and the last block. */
int session_writer_end(struct session_writer *writer, int64_t now_us, struct bytes *out);

uint64_t
session_writer_count(const struct session_writer *writer); /* samples of time, in all files */
uint64_t session_writer_event_count(const struct session_writer *writer);
uint64_t session_writer_missed(const struct session_writer *writer);

#endif
