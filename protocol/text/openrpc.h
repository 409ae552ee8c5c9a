/*
 * openrpc.h - the whole protocol as an OpenRPC document: schemas/generated/openrpc.json, embedded.
 */
#ifndef ISOSCOPE_OPENRPC_H
#define ISOSCOPE_OPENRPC_H

extern const char openrpc_text[];

#endif
