/*
 * openrpc.h - the whole protocol as an OpenRPC document: schemas/generated/openrpc.json, embedded.
 */
#ifndef ISOSCOPE_OPENRPC_H
#define ISOSCOPE_OPENRPC_H

#include <stddef.h>

extern const char openrpc_text[]; /* no 0 at the end */
size_t openrpc_length(void);

#endif
