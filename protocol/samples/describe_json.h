/*
 * describe_json.h - functions and libraries in the words of our own dialect, for both of its forms.
 */
#ifndef ISOSCOPE_DESCRIBE_JSON_H
#define ISOSCOPE_DESCRIBE_JSON_H

#include "../text/json_writer.h"
#include "../../sampler/profile/snapshot.h"

/* The members of a function that never change, without braces; library: its own. */
void describe_function_json(struct json_text *text, const struct snapshot_function *function,
                            const struct snapshot_library *library);
/* A whole object. */
void describe_library_json(struct json_text *text, const struct snapshot_library *library);

#endif
