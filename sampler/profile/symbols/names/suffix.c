#include "suffix.h"

#include <string.h>

enum { TEXT_BYTES = 12 };

/* What stands after a dot. gcc: cold, part, isra, constprop, lto_priv, localalias, omp_fn. clang:
 * llvm, uniq, cfi. */
static const struct {
    char text[TEXT_BYTES]; /* ends with zeros */
    const char *word;
} known[] = {
    { "cold", "cold" },         { "part", "part" },
    { "isra", "isra" },         { "constprop", "constprop" },
    { "lto_priv", "lto_priv" }, { "localalias", "localalias" },
    { "_omp_fn", "omp" },       { "llvm", "llvm" },
    { "__uniq", "uniq" },       { "cfi", "cfi" },
};

static bool is_digit(char letter)
{
    return letter >= '0' && letter <= '9';
}

/* Without a number at its end, "foo.part.0" -> "foo.part". */
static size_t without_number(const char *name, size_t bytes)
{
    size_t end = bytes;

    while (end && is_digit(name[end - 1]))
        end--;
    return end && end < bytes && name[end - 1] == '.' ? end - 1 : bytes;
}

bool suffix_last(const char *name, size_t bytes, struct suffix *out)
{
    size_t end = without_number(name, bytes), length;
    const char *dot = memrchr(name, '.', end);

    if (!dot || dot == name)
        return false;
    length = end - (size_t)(dot + 1 - name);
    if (length >= TEXT_BYTES)
        return false;
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (known[i].text[length] || memcmp(known[i].text, dot + 1, length) != 0)
            continue;
        *out = (struct suffix){ (size_t)(dot - name), known[i].word, i == 0 };
        return true;
    }
    return false;
}

size_t suffix_base_bytes(const char *name, size_t bytes)
{
    struct suffix suffix;

    while (suffix_last(name, bytes, &suffix))
        bytes = suffix.at;
    return bytes;
}
