/*
 * scripts.h - the source files that are known of the user's own modules, for one request.
 *
 * Ownership  scripts_take fills a struct of the caller's; scripts_free gives its memory back.
 * Errors     scripts_take: 0 or -ISOSCOPE_NO_MEMORY.
 */
#ifndef ISOSCOPE_SCRIPTS_H
#define ISOSCOPE_SCRIPTS_H

#include "../sampler/profile/snapshot.h"

#include <jansson.h>

struct scripts {
    struct profile_script *list;
    size_t count;
};

int scripts_take(struct scripts *scripts, struct profile *profile);
void scripts_free(struct scripts *scripts);

/* NULL: none has the id. */
const struct profile_script *scripts_find(const struct scripts *scripts, const char *id);
/* The one whose package: URI (or file: URI, of an absolute path) it is; NULL: none. */
const struct profile_script *scripts_of_package(const struct scripts *scripts, const char *uri);
const struct profile_script *scripts_of_file(const struct scripts *scripts, const char *uri);

json_t *script_ref(const struct profile_script *script); /* @Script */
json_t *script_package_uri(const struct profile_script *script);
json_t *script_file_uri(const struct profile_script *script); /* null: its path is not absolute */

#endif
