/*
 * push_packing.h - how a request's body is packed on the wire (HTTP's Content-Encoding).
 *
 * What engines read differs, and none says it beforehand. So the best packing is tried first; where an
 * engine answers that it cannot read it, the next simpler one is used from then on.
 *
 * Ownership  The caller owns out; what was in it stays before what is put.
 * Threads    Any.
 * Errors     0, -ISOSCOPE_NO_MEMORY, -ISOSCOPE_INVALID (what is to be unpacked is no gzip).
 */
#ifndef ISOSCOPE_PUSH_PACKING_H
#define ISOSCOPE_PUSH_PACKING_H

#include "push_request.h"

enum push_packing { PUSH_PLAIN, PUSH_GZIP, PUSH_ZSTD };

/* What Content-Encoding calls it; NULL: there is none. */
const char *push_packing_name(enum push_packing packing);

/* The first to try. zstd: the user wants it where the form has a place for it. */
enum push_packing push_packing_first(enum push_form form, bool zstd);
/* What to try where an engine does not read this one; the same: nothing else is left. */
enum push_packing push_packing_simpler(enum push_form form, enum push_packing packing);
/* Such an answer may mean that the packing is not read: 415 says so, 400 has a body that makes no
 * sense, and 501 is what Connect's servers answer. */
bool push_packing_unread(long status);

int push_pack_gzip(struct json_text *out, const char *bytes, size_t length);
/* Of what gzip packed. */
int push_pack_zstd(struct json_text *out, const char *gzip, size_t length);

#endif
