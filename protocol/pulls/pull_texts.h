/*
 * pull_texts.h - what is pulled that is no profile: the list of paths, the command line, names of
 * addresses.
 *
 * Ownership  What each gives is the caller's.
 * Errors     text->failed: out of memory.
 */
#ifndef ISOSCOPE_PULL_TEXTS_H
#define ISOSCOPE_PULL_TEXTS_H

#include "../pprof/pprof_places.h"
#include "../rpc/reply_stream.h"
#include "../text/json_writer.h"

void pull_index(struct json_text *text);
/* words: up to a NULL. A byte of separator stands between two. */
void pull_command(struct json_text *text, const char *const *words, char separator);
/* How `pprof` asks whether addresses can be asked about. */
void pull_symbol_count(struct json_text *text);
/* addresses: "0x1+0x2", in any radix that C has; what is none, or is in no function that a profile
 * told of, gets no line. */
void pull_symbols(struct json_text *text, struct pprof_places *places, const char *addresses,
                  size_t length);

/* A reply of this text, which it takes over. NULL: out of memory. */
struct reply_stream *pull_text_stream(struct json_text *text);

#endif
