#include "addresses.h"

#include "../console/log_line.h"
#include "../console/status.h"

#include "../../protocol/text/json_writer.h"
#include "../../sampler/feed/cleanup.h"
#include "../../sampler/include/isoscope/isoscope.h"
#include "../../sampler/profile/address_symbolizer.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct address {
    char *build_id, *path;
    uint64_t offset;
};

/* Cuts the line into its words. */
static bool parse(char *line, struct address *out)
{
    char *offset = strchr(line, ' '), *end;

    if (!offset)
        return false;
    *offset++ = '\0';
    errno = 0;
    out->offset = strtoull(offset, &end, 0);
    out->build_id = strcmp(line, "-") ? line : line + 1;
    out->path = end + 1;
    return offset[0] >= '0' && offset[0] <= '9' && *end == ' ' && !errno && out->path[0] &&
           out->offset < UINT64_C(1) << 48;
}

static void put_text(struct json_text *text, const char *member, const char *value)
{
    if (!value)
        return;
    json_text_raw(text, member, strlen(member));
    json_text_string(text, value);
}

static void put_number(struct json_text *text, const char *member, uint64_t value)
{
    json_text_raw(text, member, strlen(member));
    json_text_uint(text, value);
}

static void put_frame(struct json_text *text, const struct symbolized_frame *frame)
{
    const struct snapshot_function *function = &frame->function;
    static const char *const kinds[] = {
#define KIND_NAME(name, word) [SNAPSHOT_##name] = word,
        SNAPSHOT_KINDS(KIND_NAME)
#undef KIND_NAME
    };

    put_text(text, "{\"function\":{\"key\":", function->id);
    put_text(text, ",\"name\":", function->name);
    put_text(text, ",\"fullName\":", function->full_name);
    put_text(text, ",\"rawName\":", function->raw_name);
    put_text(text, ",\"kind\":", kinds[function->kind]);
    if (function->offset != SNAPSHOT_NO_OFFSET)
        put_number(text, ",\"offset\":", function->offset);
    put_text(text, ",\"file\":", function->file);
    if (function->line)
        put_number(text, ",\"line\":", function->line);
    json_text_literal(text, "}");
    if (frame->line)
        put_number(text, ",\"line\":", frame->line);
    put_text(text, ",\"file\":", frame->file);
    if (frame->inlined)
        json_text_literal(text, ",\"inlined\":true");
    json_text_literal(text, "}");
}

static void put_result(struct json_text *text, const struct symbolized *result)
{
    json_text_literal(text, "{\"frames\":[");
    for (uint32_t i = 0; i < result->count; i++) {
        if (i)
            json_text_literal(text, ",");
        put_frame(text, &result->frames[i]);
    }
    json_text_literal(text, "]");
    put_text(text, ",\"reason\":", result->library.reason);
    put_text(text, ",\"linesReason\":", result->library.lines_reason);
    json_text_literal(text, "}\n");
}

static void free_line(char **line)
{
    free(*line);
}

/* Files are looked for by absolute paths. What is not there stays as it was written: the answer
 * says so. */
static const char *absolute(char out[PATH_MAX], const char *path)
{
    return path[0] != '/' && realpath(path, out) ? out : path;
}

/* SYSTEM: errno tells. */
static int failed(int error)
{
    log_line("symbolize: %s", error == -ISOSCOPE_SYSTEM ? strerror(errno) : "out of memory");
    return STATUS_FAILED;
}

/* 0, or the exit status. */
static int answer(struct address_symbolizer *symbolizer, char *line, unsigned long number)
{
    CLEANUP(json_text_free) struct json_text text = { 0 };
    struct symbolized result;
    char path[PATH_MAX];
    struct address address;
    int error;

    if (!parse(line, &address)) {
        log_line("symbolize: line %lu is not 'BUILD_ID OFFSET PATH'", number);
        return STATUS_USAGE;
    }
    error = symbolize_address(symbolizer, absolute(path, address.path), address.build_id,
                              address.offset, &result);
    if (error == -ISOSCOPE_INVALID) {
        log_line("symbolize: line %lu: '%s' is not a build id", number, address.build_id);
        return STATUS_USAGE;
    }
    if (!error)
        put_result(&text, &result);
    if (error || text.failed)
        return failed(error);
    return fwrite(text.data, 1, text.length, stdout) == text.length ? 0 : STATUS_FAILED;
}

static int answer_all(struct address_symbolizer *symbolizer)
{
    CLEANUP(free_line) char *line = NULL;
    size_t capacity = 0;
    ssize_t length;
    int status = 0;

    for (unsigned long number = 1; !status && (length = getline(&line, &capacity, stdin)) > 0;
         number++) {
        if (line[length - 1] == '\n')
            line[length - 1] = '\0';
        status = answer(symbolizer, line, number);
    }
    return fflush(stdout) == 0 ? status : STATUS_FAILED;
}

int addresses_symbolize(void)
{
    struct address_symbolizer *symbolizer;
    int status = address_symbolizer_new(&symbolizer, false);

    if (status < 0)
        return failed(status);
    status = answer_all(symbolizer);
    address_symbolizer_free(symbolizer);
    return status;
}
