/*
 * protobuf.h - protocol buffers, appended field by field to a struct json_text.
 *
 *     size_t packet = protobuf_begin(bytes, 1);
 *     protobuf_uint(bytes, 8, timestamp_ns);
 *     protobuf_end(bytes, packet);
 *
 * Errors     As json_writer.h: out of memory sets failed.
 */
#ifndef ISOSCOPE_PROTOBUF_H
#define ISOSCOPE_PROTOBUF_H

#include "json_writer.h"

/* A field of type uint32, uint64, int32, int64 or enum. */
void protobuf_uint(struct json_text *bytes, uint32_t field, uint64_t value);
/* Fields of type fixed64 and double. */
void protobuf_fixed(struct json_text *bytes, uint32_t field, uint64_t value);
void protobuf_double(struct json_text *bytes, uint32_t field, double value);
/* A byte that is no UTF-8 becomes U+FFFD. */
void protobuf_string(struct json_text *bytes, uint32_t field, const char *string);
void protobuf_text(struct json_text *bytes, uint32_t field, const char *string, size_t length);

/* A number more in a packed list, which protobuf_begin and protobuf_end are around. */
void protobuf_packed(struct json_text *bytes, uint64_t value);

/* A message within: what is appended until protobuf_end is its own; below 256 MiB. */
size_t protobuf_begin(struct json_text *bytes, uint32_t field);
void protobuf_end(struct json_text *bytes, size_t begun);
/* The begin of one of that length, whose bytes follow. */
void protobuf_head(struct json_text *bytes, uint32_t field, size_t length);

#endif
