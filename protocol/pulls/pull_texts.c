#include "pull_texts.h"

#include "pull_paths.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { ADDRESS_CHARACTERS = 32 };

static void put(struct json_text *text, const char *words)
{
    json_text_raw(text, words, strlen(words));
}

void pull_index(struct json_text *text)
{
    const struct pull_path *path;
    char line[160];

    put(text, "Profiles in pprof's format (profile.proto, with gzip), here and below /pprof/:\n\n");
    for (size_t i = 0; (path = pull_path_at(i)); i++) {
        if (!path->text)
            continue;
        snprintf(line, sizeof(line), "%-13s %s%s\n", path->name, path->text,
                 path->seconds ? " (?seconds=30)" : "");
        put(text, line);
    }
    put(text, "\n?seconds=N waits so long, 600 at most, and gives these seconds; ?seconds=0 gives "
              "all that is kept, at once.\n");
}

void pull_command(struct json_text *text, const char *const *words, char separator)
{
    for (size_t i = 0; words[i]; i++) {
        if (i)
            json_text_raw(text, &separator, 1);
        put(text, words[i]);
    }
}

void pull_symbol_count(struct json_text *text)
{
    put(text, "num_symbols: 1\n");
}

static void put_symbol(struct json_text *text, struct pprof_places *places, const char *word,
                       size_t length)
{
    char digits[ADDRESS_CHARACTERS + 1] = "", before[48], *end;
    const char *name;
    uint64_t address;
    size_t size;

    if (!length || length > ADDRESS_CHARACTERS)
        return;
    memcpy(digits, word, length);
    address = strtoull(digits, &end, 0);
    if (*end || digits[0] < '0' || digits[0] > '9')
        return;
    name = pprof_places_name(places, address, &size);
    if (!name)
        return;
    snprintf(before, sizeof(before), "%#" PRIx64 "\t", address);
    put(text, before);
    json_text_raw(text, name, size);
    json_text_literal(text, "\n");
}

void pull_symbols(struct json_text *text, struct pprof_places *places, const char *addresses,
                  size_t length)
{
    const char *end = addresses + length;

    pull_symbol_count(text);
    while (addresses < end) {
        const char *next = addresses;

        while (next < end && *next != '+' && *next > ' ')
            next++;
        put_symbol(text, places, addresses, (size_t)(next - addresses));
        addresses = next + 1;
    }
}

static void compose_nothing(struct reply_stream *stream)
{
    stream->done = true;
}

static void free_stream(struct reply_stream *stream)
{
    free(stream);
}

struct reply_stream *pull_text_stream(struct json_text *text)
{
    static const struct reply_stream_kind kind = { compose_nothing, free_stream };
    struct reply_stream *stream = calloc(1, sizeof(*stream));

    if (!stream || text->failed) {
        json_text_free(text);
        free(stream);
        return NULL;
    }
    stream->kind = &kind;
    stream->carry = *text;
    stream->done = true;
    *text = (struct json_text){ 0 };
    return stream;
}
