#include "spoken.h"

#include "../../../feed/cleanup.h"
#include "demangle.h"
#include "suffix.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MARKS_MAX = 128 };

/* Said as they stand, after the name. */
static const char plt[] = "@plt";

static void free_text(char **text)
{
    free(*text);
}

static size_t without_plt(const char *raw, size_t bytes)
{
    size_t length = sizeof(plt) - 1;

    return bytes > length && !memcmp(raw + bytes - length, plt, length) ? bytes - length : bytes;
}

bool spoken_differs(const char *raw, bool resolver)
{
    return resolver || demangle_likely(raw) ||
           (strchr(raw, '.') && suffix_base_bytes(raw) < strlen(raw));
}

/* ", isra, constprop", in the order in which the compiler made them; without the name's end. */
static void list_marks(const char *raw, size_t bytes, bool resolver, char out[MARKS_MAX])
{
    char before[MARKS_MAX] = "";
    struct suffix suffix;

    snprintf(out, MARKS_MAX, "%s", resolver ? ", resolver" : "");
    while (suffix_last(raw, bytes, &suffix)) {
        memcpy(before, out, MARKS_MAX);
        snprintf(out, MARKS_MAX, ", %s%.*s", suffix.word, MARKS_MAX - 32, before);
        bytes = suffix.at;
    }
}

static struct spoken *join(const char *name, const char *full_name, const char *after)
{
    size_t name_bytes = strlen(name) + strlen(after) + 1, full_bytes = name_bytes;
    bool same = !strcmp(name, full_name);
    struct spoken *spoken;

    full_bytes = same ? 0 : strlen(full_name) + strlen(after) + 1;
    spoken = malloc(sizeof(*spoken) + name_bytes + full_bytes);
    if (!spoken)
        return NULL;
    snprintf(spoken->name, name_bytes, "%s%s", name, after);
    spoken->full_name = spoken->name;
    if (!same) {
        snprintf(spoken->name + name_bytes, full_bytes, "%s%s", full_name, after);
        spoken->full_name = spoken->name + name_bytes;
    }
    return spoken;
}

struct spoken *spoken_new(const char *raw, bool resolver)
{
    size_t bytes = without_plt(raw, strlen(raw));
    char marks[MARKS_MAX], after[MARKS_MAX + 16];
    CLEANUP(free_text) char *base = NULL;
    CLEANUP(free_text) char *name = NULL;
    CLEANUP(free_text) char *full_name = NULL;
    const char *end = raw + bytes;

    list_marks(raw, bytes, resolver, marks);
    snprintf(after, sizeof(after), "%s%s%s%s", end, marks[0] ? " [" : "", marks[0] ? marks + 2 : "",
             marks[0] ? "]" : "");
    base = strndup(raw, bytes);
    if (!base)
        return NULL;
    base[suffix_base_bytes(base)] = 0;
    name = demangle(base, true);
    full_name = demangle(base, false);
    return join(name ? name : base, full_name ? full_name : base, after);
}
