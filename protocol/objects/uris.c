#include "uris.h"

#include <stdlib.h>
#include <string.h>

static bool unreserved(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c && strchr("-._~/+", c));
}

static void encoded(struct json_text *text, const char *bytes, size_t length)
{
    static const char hex[] = "0123456789ABCDEF";

    for (size_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)bytes[i];
        char escape[3] = { '%', hex[byte >> 4], hex[byte & 15] };

        if (unreserved(bytes[i]))
            json_text_raw(text, bytes + i, 1);
        else
            json_text_raw(text, escape, sizeof(escape));
    }
}

/* Compilers write paths as they were given them: "./build/../src/x.c". */
static bool is_normal(const char *path)
{
    return *path != '.' && !strstr(path, "/.") && !strstr(path, "//");
}

/* Takes one segment off the end, with its slash. */
static size_t without_last(const char *path, size_t length)
{
    while (length && path[--length] != '/')
        ;
    return length;
}

/* path without its "." and "..", each segment behind a slash. By its text alone: what a link leads
 * to is not looked at. Returns the length. */
static size_t normalise(char *out, const char *path)
{
    size_t length = 0;

    while (*path) {
        size_t count = strcspn(path, "/");

        if (count == 2 && !memcmp(path, "..", 2)) {
            length = without_last(out, length);
        } else if (count && !(count == 1 && *path == '.')) {
            out[length++] = '/';
            memcpy(out + length, path, count);
            length += count;
        }
        path += count;
        path += *path == '/';
    }
    return length;
}

/* With a slash before it. */
static void put_path(struct json_text *text, const char *path)
{
    char *normal = is_normal(path) ? NULL : malloc(strlen(path) + 2);

    if (normal) {
        encoded(text, normal, normalise(normal, path));
    } else {
        if (*path != '/')
            json_text_literal(text, "/");
        encoded(text, path, strlen(path));
    }
    free(normal);
}

void uri_package(struct json_text *text, const char *module)
{
    json_text_literal(text, "package:");
    encoded(text, module, strlen(module));
    json_text_literal(text, "/");
    encoded(text, module, strlen(module));
}

void uri_file(struct json_text *text, const char *path)
{
    json_text_literal(text, "file://");
    put_path(text, path);
}

/* "[vdso]", "[unknown]", "<string>": brackets may not stand in a URI's path. */
static void put_bare(struct json_text *text, const char *path)
{
    size_t length = strlen(path);

    if (length >= 2 && ((path[0] == '[' && path[length - 1] == ']') ||
                        (path[0] == '<' && path[length - 1] == '>'))) {
        path++;
        length -= 2;
    }
    encoded(text, path, length);
}

/* A runtime's file is source itself. */
static void uri_script(struct json_text *text, const struct snapshot_library *library)
{
    if (library->package) {
        json_text_literal(text, "package:");
        encoded(text, library->package, strlen(library->package));
    } else if (library->path[0] == '/') {
        uri_file(text, library->path);
    } else {
        json_text_literal(text, "script:");
        put_bare(text, library->path);
    }
}

void uri_library(struct json_text *text, const struct snapshot_library *library)
{
    if (library->runtime)
        return uri_script(text, library);
    if (library->path[0] != '/') {
        json_text_literal(text, "native:");
        put_bare(text, library->path);
    } else if (!library->system) {
        uri_package(text, library->name);
    } else {
        uri_file(text, library->path);
    }
}

void uri_source(struct json_text *text, const struct snapshot_library *library, const char *file)
{
    if (!file || library->runtime)
        return uri_library(text, library);
    json_text_literal(text, "package:");
    encoded(text, library->name, strlen(library->name));
    put_path(text, file);
}

bool uri_has_scripts(const struct snapshot_library *library)
{
    const bool has_file = library->path[0] == '/';

    return library->runtime ? !library->system || has_file : !library->system && has_file;
}

void uri_resolved(struct json_text *text, const struct snapshot_library *library, const char *file)
{
    if (uri_has_scripts(library))
        uri_source(text, library, file);
}
