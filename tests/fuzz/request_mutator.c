#include "request_mutator.h"

#include "protocol/generated/methods.h"
#include "protocol/methods.h"
#include "protocol/params.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINES_MAX = 64 };

struct line {
    const char *text; /* in the old conversation, or new */
    size_t length;
    char *made; /* NULL: text is borrowed */
};

struct lines {
    struct line list[LINES_MAX];
    size_t count;
    unsigned random;
};

static unsigned below(struct lines *lines, size_t bound)
{
    lines->random = lines->random * 1103515245 + 12345;
    return (unsigned)((lines->random >> 8) % bound);
}

static void split(struct lines *lines, const char *text, size_t size)
{
    const char *end = text + size;

    while (text < end && lines->count < LINES_MAX) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        const char *stop = newline ? newline : end;
        lines->list[lines->count++] = (struct line){ text, (size_t)(stop - text), NULL };
        text = stop + 1;
    }
}

/* What parameters of every kind look like when they are right, and nearly right. */
static json_t *some_value(struct lines *lines, const struct param *param)
{
    static const char *const texts[] = {
        "isolates/100",
        "isolates/101",
        "isolates/999",
        "isolateGroups/100",
        "",
        "true",
        "false",
        "0",
        "1",
        "-1",
        "1000",
        "9223372036854775807",
        "9223372036854775808",
        "[]",
        "[a, b]",
        "[Profiler]",
        "Profiler",
        "VM",
        "classes/1",
        "libraries/0",
        "objects/0",
        "functions/0",
        "scripts/0",
        "profiler",
        "profile_period",
        "50",
        "wall",
        "1e400",
        "\xff",
    };

    if (param && param->words && below(lines, 4)) {
        size_t count = 0;
        while (param->words[count])
            count++;
        return json_string(count ? param->words[below(lines, count)] : "");
    }
    switch (below(lines, 8)) {
    case 0:
        return json_integer((json_int_t)below(lines, 5000) - 100);
    case 1:
        return json_boolean(below(lines, 2));
    case 2:
        return json_null();
    case 3:
        return json_pack("[s, i]", texts[below(lines, 20)], (int)below(lines, 10));
    case 4:
        return json_pack("{s:i}", "a", 1);
    default:
        return json_string_nocheck(texts[below(lines, sizeof(texts) / sizeof(texts[0]))]);
    }
}

static void set_param(struct lines *lines, json_t *message, const struct method *method)
{
    json_t *params = json_object_get(message, "params");
    const struct param *param =
        method->param_count ? &method->params[below(lines, method->param_count)] : NULL;

    if (!json_is_object(params)) {
        params = json_object();
        json_object_set_new(message, "params", params);
    }
    if (param && !below(lines, 5))
        json_object_del(params, param->name);
    else
        json_object_set_new(params, param ? param->name : "other", some_value(lines, param));
}

static json_t *new_request(struct lines *lines)
{
    const struct method *method = &methods[below(lines, method_count)];
    json_t *message = json_pack("{s:s, s:s}", "id", "1", "method", method->name);

    for (size_t i = 0; i < method->param_count; i++)
        if (method->params[i].required || below(lines, 2))
            set_param(lines, message, method);
    return message;
}

static void change(struct lines *lines, json_t *message)
{
    static const char *const members[] = { "id", "method", "params", "result", "error", "jsonrpc" };
    const char *name = json_string_value(json_object_get(message, "method"));
    const struct method *method = name ? method_find(name) : NULL;

    if (method && below(lines, 4))
        set_param(lines, message, method);
    else if (below(lines, 3))
        json_object_set_new(message, "method",
                            json_string(methods[below(lines, method_count)].name));
    else if (below(lines, 2))
        json_object_set_new(message, members[below(lines, 6)], some_value(lines, NULL));
    else
        json_object_del(message, members[below(lines, 6)]);
}

/* Takes over message. */
static void put(struct lines *lines, size_t at, json_t *message)
{
    char *text = json_dumps(message, JSON_COMPACT);
    struct line line = { 0 };
    int length = text ? asprintf(&line.made, "%u%s", below(lines, 4), text) : -1;

    json_decref(message);
    free(text);
    if (length < 0)
        return;
    line.text = line.made;
    line.length = (size_t)length;
    free(lines->list[at].made);
    lines->list[at] = line;
}

static void change_line(struct lines *lines, size_t at)
{
    const struct line *line = &lines->list[at];
    json_t *message = line->length > 1
                          ? json_loadb(line->text + 1, line->length - 1, JSON_ALLOW_NUL, NULL)
                          : NULL;

    if (!message || !json_is_object(message)) {
        json_decref(message);
        message = new_request(lines);
    } else {
        change(lines, message);
    }
    put(lines, at, message);
}

static void edit(struct lines *lines)
{
    static const char *const commands[] = { "!p", "!e", "!c", "!r", "!s", "!m" };
    size_t last = lines->count, at = last ? below(lines, last) : 0;
    unsigned what = below(lines, 8);

    if (!last || (what < 3 && last < LINES_MAX)) {
        lines->list[lines->count++] = (struct line){ 0 };
        put(lines, last, new_request(lines));
    } else if (what == 3 && last < LINES_MAX) {
        lines->list[lines->count++] = (struct line){ commands[below(lines, 6)], 2, NULL };
    } else if (what == 4) {
        free(lines->list[at].made);
        memmove(&lines->list[at], &lines->list[at + 1], (last - at - 1) * sizeof(lines->list[0]));
        lines->count--;
    } else {
        change_line(lines, at);
    }
}

static size_t join(struct lines *lines, uint8_t *out, size_t size_max)
{
    char *joined = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&joined, &size);

    for (size_t i = 0; i < lines->count; i++) {
        fwrite(lines->list[i].text, 1, lines->list[i].length, stream);
        fputc('\n', stream);
    }
    fclose(stream);
    if (size > size_max)
        size = 0;
    memcpy(out, joined, size);
    free(joined);
    for (size_t i = 0; i < lines->count; i++)
        free(lines->list[i].made);
    return size;
}

size_t request_mutate(uint8_t *bytes, size_t size, size_t size_max, unsigned seed)
{
    struct lines lines = { .random = seed };

    split(&lines, (const char *)bytes, size);
    for (unsigned edits = 1 + below(&lines, 3); edits; edits--)
        edit(&lines);
    return join(&lines, bytes, size_max);
}
