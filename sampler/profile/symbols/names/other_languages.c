#include "other_languages.h"

#include <libiberty/demangle.h>
#include <stdlib.h>
#include <string.h>

enum {
    NAME_BYTES_MAX = 4096,
    /* Each may repeat what was said before, twice over: more could read out to gigabytes. */
    D_BACK_REFERENCES_MAX = 24,
};

static const char ocaml[] = "caml";

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

static bool is_d(const char *name)
{
    return name[0] == '_' && name[1] == 'D' && (is_digit(name[2]) || !strcmp(name, "_Dmain"));
}

static bool is_ocaml(const char *name)
{
    const char *module = name + sizeof(ocaml) - 1;

    return !strncmp(name, ocaml, sizeof(ocaml) - 1) && module[0] >= 'A' && module[0] <= 'Z' &&
           (strstr(module, "__") || strchr(module, '.'));
}

static bool is_ada(const char *name)
{
    return !strncmp(name, "_ada_", 5) || (is_lower(name[0]) && strstr(name, "__"));
}

bool other_languages_is_gnat(const char *symbol)
{
    return !strncmp(symbol, "ada_main__", 10) || !strncmp(symbol, "ada__", 5);
}

bool other_languages_likely(const char *name, bool gnat)
{
    return is_d(name) || is_ocaml(name) || (gnat && is_ada(name));
}

/* Parameters follow the last name; what stands in brackets after "!" are a template's. */
static void cut_parameters(char *name)
{
    int depth = 0;

    for (char *at = name; *at; at++) {
        if (*at == '(' && !depth && at > name && at[-1] != '!') {
            *at = 0;
            return;
        }
        depth += *at == '(' ? 1 : *at == ')' ? -1 : 0;
    }
}

static char *d_name(const char *name, bool brief)
{
    int references = 0;
    char *text;

    for (const char *at = name; *at; at++)
        references += *at == 'Q';
    text = references > D_BACK_REFERENCES_MAX ? NULL : dlang_demangle(name, 0);
    if (text && brief)
        cut_parameters(text);
    return text;
}

/* It writes what it cannot read in angle brackets. */
static char *ada_name(const char *name)
{
    char *text = ada_demangle(name, 0);

    if (text && text[0] != '<')
        return text;
    free(text);
    return NULL;
}

static int hex_digit(char c)
{
    if (is_digit(c))
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* "$2b" is "+". Returns how many bytes were read. */
static size_t read_ocaml(const char *at, char *out)
{
    *out = at[0];
    if (at[0] == '_' && at[1] == '_' && at[2] && at[2] != '_') {
        *out = '.';
        return 2;
    }
    if (at[0] != '$' || hex_digit(at[1]) < 0 || hex_digit(at[2]) < 0)
        return 1;
    *out = (char)(hex_digit(at[1]) << 4 | hex_digit(at[2]));
    return 3;
}

/* The number that the compiler put behind it says nothing to a person. */
static void cut_stamp(char *name)
{
    char *end = strrchr(name, '_');

    if (end && end > name && end[-1] != '.' && end[1] &&
        strspn(end + 1, "0123456789") == strlen(end + 1))
        *end = 0;
}

static char *ocaml_name(const char *name)
{
    char *text = strdup(name + sizeof(ocaml) - 1), *out = text;

    if (!text)
        return NULL;
    for (const char *at = text; *at;)
        at += read_ocaml(at, out++);
    *out = 0;
    cut_stamp(text);
    return text;
}

char *other_languages_name(const char *name, bool gnat, bool brief)
{
    if (strnlen(name, NAME_BYTES_MAX) == NAME_BYTES_MAX)
        return NULL;
    if (is_d(name))
        return d_name(name, brief);
    if (is_ocaml(name))
        return ocaml_name(name);
    return gnat && is_ada(name) ? ada_name(name) : NULL;
}
