/*
 * otlp_attributes.h - attributes in OpenTelemetry's words: of a dictionary, where each is once, and of
 * the resource that a profile is about.
 *
 * Errors     Out of memory: what the dictionary points to says so.
 */
#ifndef ISOSCOPE_OTLP_ATTRIBUTES_H
#define ISOSCOPE_OTLP_ATTRIBUTES_H

#include "interned.h"
#include "../text/json_writer.h"
#include "../../sampler/profile/snapshot.h"

/* Of one, what attributes need; borrowed. */
struct otlp_dictionary {
    struct interned *strings, *attributes;
    struct json_text *bytes; /* a new one is put here, as a field of the dictionary */
    struct json_text *entry; /* for composing it */
};

/* Its place in the dictionary. text NULL: it is a number. */
uint32_t otlp_attribute(struct otlp_dictionary dictionary, const char *key, const char *text,
                        uint64_t number);
/* One whose value is a list of texts: count of them, each so many bytes behind the one before. */
uint32_t otlp_attribute_list(struct otlp_dictionary dictionary, const char *key, const char *texts,
                             size_t stride, size_t count);
/* What runs a frame of this library's. */
uint32_t otlp_frame_type(struct otlp_dictionary dictionary, const struct snapshot_library *library);

/* One that stands where it is, as that field. text NULL: it is a number. */
void otlp_key_value(struct json_text *bytes, uint32_t field, const char *key, const char *text,
                    uint64_t number);

#endif
