/*
 * refs.h - libraries, scripts and functions as the wire refers to them, as text.
 *
 * A script is a source file of a module: "libraries/3/scripts/7". A function has a location when
 * its line is known and its module is the user's own: a system library's functions have no URL, so
 * that DevTools can fold them into their callers.
 *
 * The functions append members of an object, without its braces, "type" first.
 */
#ifndef ISOSCOPE_REFS_H
#define ISOSCOPE_REFS_H

#include "../text/json_writer.h"
#include "../../sampler/profile/snapshot.h"

#include <jansson.h>
#include <stdbool.h>

/* type: "@Library" or "Library", and so on. */
void ref_library(struct json_text *text, const char *type, const struct snapshot_library *library);
void ref_script(struct json_text *text, const char *type, const struct snapshot_library *library,
                const char *file, uint32_t file_number);
void ref_function(struct json_text *text, const char *type,
                  const struct snapshot_function *function, const struct snapshot_library *library);
bool ref_has_location(const struct snapshot_function *function,
                      const struct snapshot_library *library);

/* A function's name as a JSON string: DevTools cuts a name without a blank at its last '&', so that
 * "f(int&)" would be ")"; one blank saves it. */
void ref_name(struct json_text *text, const char *name);

/* "code/3/1a2b0", the code of "functions/3/1a2b0". */
json_t *ref_code(const char *type, const struct snapshot_function *function);

/* What was appended, in braces; NULL when out of memory. Gives the text's memory back. */
json_t *ref_json(struct json_text *text);

#endif
