#include "display_name.h"

#include "../../../feed/cleanup.h"
#include "demangle.h"
#include "other_languages.h"
#include "suffix.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS_MAX = 8, AFTER_BYTES_MAX = 128 };

/* Said as they stand, after the name. */
static const char plt[] = "@plt";

/* What is said after a name. Every word has at most ten letters: all of them fit. */
struct after {
    char text[AFTER_BYTES_MAX];
    size_t bytes;
};

static void free_text(char **text)
{
    free(*text);
}

static size_t without_plt(const char *raw, size_t bytes)
{
    size_t length = sizeof(plt) - 1;

    return bytes > length && !memcmp(raw + bytes - length, plt, length) ? bytes - length : bytes;
}

static bool is_mangled(const char *raw, unsigned traits)
{
    return demangle_likely(raw) || other_languages_likely(raw, traits & DISPLAY_NAME_GNAT);
}

bool display_name_differs(const char *raw, unsigned traits)
{
    struct suffix suffix;

    return traits & DISPLAY_NAME_RESOLVER || is_mangled(raw, traits) ||
           suffix_last(raw, strlen(raw), &suffix);
}

static void append_after(struct after *after, const char *text)
{
    size_t bytes = strlen(text);

    memcpy(after->text + after->bytes, text, bytes);
    after->bytes += bytes;
}

/* " [isra, constprop]", in the order in which the compiler made them, which is that of the raw
 * name; of more than WORDS_MAX the last ones. */
static void append_marks(struct after *after, const char *raw, size_t bytes, bool resolver)
{
    const char *words[WORDS_MAX], *mark = " [";
    struct suffix suffix;
    uint32_t count = 0;

    if (resolver)
        words[count++] = "resolver";
    while (count < WORDS_MAX && suffix_last(raw, bytes, &suffix)) {
        words[count++] = suffix.word;
        bytes = suffix.at;
    }
    if (!count)
        return;
    for (; count > 0; mark = ", ") {
        append_after(after, mark);
        append_after(after, words[--count]);
    }
    append_after(after, "]");
}

static char *write_name(char *out, const char *name, size_t bytes, const struct after *after)
{
    memcpy(out, name, bytes);
    memcpy(out + bytes, after->text, after->bytes);
    out[bytes + after->bytes] = 0;
    return out + bytes + after->bytes + 1;
}

/* full_name NULL: the same. */
static struct display_name *join_names(const char *name, size_t name_bytes, const char *full_name,
                                       const struct after *after)
{
    size_t full_bytes = full_name ? strlen(full_name) : 0;
    struct display_name *display_name =
        malloc(sizeof(*display_name) + name_bytes + full_bytes + 2 * (after->bytes + 1));
    char *end;

    if (!display_name)
        return NULL;
    display_name->full_name = display_name->name;
    end = write_name(display_name->name, name, name_bytes, after);
    if (full_name) {
        display_name->full_name = end;
        write_name(end, full_name, full_bytes, after);
    }
    return display_name;
}

/* NULL: it is no mangled name. */
static char *read_name(const char *mangled, unsigned traits, bool brief)
{
    return demangle_likely(mangled)
               ? demangle(mangled, brief)
               : other_languages_name(mangled, traits & DISPLAY_NAME_GNAT, brief);
}

static struct display_name *join_demangled(const char *raw, size_t bytes, unsigned traits,
                                           const struct after *after)
{
    CLEANUP(free_text) char *base = strndup(raw, bytes);
    CLEANUP(free_text) char *name = base ? read_name(base, traits, true) : NULL;
    CLEANUP(free_text) char *full_name = base ? read_name(base, traits, false) : NULL;
    const char *brief = name ? name : base, *full = full_name ? full_name : base;

    return base ? join_names(brief, strlen(brief), strcmp(brief, full) != 0 ? full : NULL, after)
                : NULL;
}

struct display_name *display_name_new(const char *raw, unsigned traits)
{
    size_t bytes = without_plt(raw, strlen(raw));
    struct after after = { .bytes = 0 };

    append_after(&after, raw + bytes);
    append_marks(&after, raw, bytes, traits & DISPLAY_NAME_RESOLVER);
    bytes = suffix_base_bytes(raw, bytes);
    return is_mangled(raw, traits) ? join_demangled(raw, bytes, traits, &after)
                                   : join_names(raw, bytes, NULL, &after);
}
