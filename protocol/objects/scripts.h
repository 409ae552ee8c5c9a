/*
 * scripts.h - the source files that are known of the user's own modules, for one request.
 *
 * A module is a script too, number 0, where it has functions whose file is not known: each URL that
 * a function has is some script's.
 *
 * Ownership  scripts_take fills a struct of the caller's; scripts_free gives its memory back.
 * Errors     scripts_take: 0 or -ISOSCOPE_NO_MEMORY.
 */
#ifndef ISOSCOPE_SCRIPTS_H
#define ISOSCOPE_SCRIPTS_H

#include "../../sampler/profile/snapshot.h"

#include <jansson.h>

struct scripts {
    struct profile_script *list;
    size_t count;
};

/* Of what a process has met; 0: of all. */
int scripts_take(struct scripts *scripts, struct profile *profile, uint64_t process_id);
void scripts_free(struct scripts *scripts);

/* NULL: none has the id. */
const struct profile_script *scripts_find(const struct scripts *scripts, const char *id);
/* The one whose package: URI (or file: URI, of an absolute path) it is; NULL: none. */
const struct profile_script *scripts_of_package(const struct scripts *scripts, const char *uri);
const struct profile_script *scripts_of_file(const struct scripts *scripts, const char *uri);

json_t *script_ref(const struct profile_script *script); /* @Script */
/* A list of @Script, those of the module with the path; each URI once. */
json_t *script_refs(const struct scripts *scripts, const char *path);
json_t *script_package_uri(const struct profile_script *script);
json_t *script_file_uri(const struct profile_script *script); /* null: its path is not absolute */

#endif
