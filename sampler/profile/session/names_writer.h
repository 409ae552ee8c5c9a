/*
 * names_writer.h - names and lines of what a session has samples of, as they become known: FUNC,
 * CHNS.
 *
 * Errors     As table_writer.h.
 */
#ifndef ISOSCOPE_SESSION_NAMES_WRITER_H
#define ISOSCOPE_SESSION_NAMES_WRITER_H

#include "table_writer.h"

/* Asks for what is not known. waits: for how many frames that is. */
int names_writer_put(struct table_writer *writer, struct bytes *out, uint32_t *waits);

#endif
