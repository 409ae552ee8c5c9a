#include "event_words.h"

/* The head: arguments in bits 0 to 2, the flags, types of arguments from bit 8 on (2 bits each),
 * names of the first two from bit 32 on (16 bits each). */
enum {
    ARGUMENTS = 7,
    WIDE = 1 << 3,
    HAS_ID = 1 << 4,
    HAS_DEPTH = 1 << 5,
    TYPES_AT = 8,
    TYPE_BITS = 2,
    NAMES_AT = 32,
    NAME_BITS = 16,
    NAMES_IN_HEAD = 2,
};

static uint64_t head_of(const struct event_extra *extra)
{
    uint64_t head = extra->argument_count | (extra->wide ? WIDE : 0) |
                    (extra->has_id ? HAS_ID : 0) | (extra->has_depth ? HAS_DEPTH : 0);

    for (uint32_t i = 0; i < extra->argument_count; i++) {
        head |= (uint64_t)(extra->arguments[i].type & 3) << (TYPES_AT + TYPE_BITS * i);
        if (i < NAMES_IN_HEAD)
            head |= (uint64_t)extra->arguments[i].name << (NAMES_AT + NAME_BITS * i);
    }
    return head;
}

uint32_t event_words_write(const struct event_extra *extra, uint64_t words[EVENT_WORDS_MAX])
{
    uint32_t count = 0;

    words[count++] = head_of(extra);
    if (extra->wide) {
        words[count++] = (uint64_t)extra->start_ns;
        words[count++] = extra->duration_ns;
    }
    if (extra->has_id)
        words[count++] = extra->id;
    if (extra->has_depth)
        words[count++] = extra->depth;
    if (extra->argument_count > NAMES_IN_HEAD) {
        words[count] = 0;
        for (uint32_t i = NAMES_IN_HEAD; i < extra->argument_count; i++)
            words[count] |= (uint64_t)extra->arguments[i].name << NAME_BITS * (i - NAMES_IN_HEAD);
        count++;
    }
    for (uint32_t i = 0; i < extra->argument_count; i++)
        words[count++] = extra->arguments[i].word;
    return count;
}

uint32_t event_words_count(const uint64_t *words)
{
    uint32_t arguments = *words & ARGUMENTS;

    return 1 + (*words & WIDE ? 2 : 0) + (*words & HAS_ID ? 1 : 0) + (*words & HAS_DEPTH ? 1 : 0) +
           (arguments > NAMES_IN_HEAD ? 1 : 0) + arguments;
}

static uint16_t name_in(uint64_t word, uint32_t place)
{
    return (uint16_t)(word >> NAME_BITS * place);
}

uint32_t event_words_read(const uint64_t *words, struct event_extra *out)
{
    uint64_t head = words[0], more = 0;
    uint32_t count = 1;

    *out = (struct event_extra){ .wide = head & WIDE,
                                 .has_id = head & HAS_ID,
                                 .has_depth = head & HAS_DEPTH,
                                 .argument_count = head & ARGUMENTS };
    if (out->wide) {
        out->start_ns = (int64_t)words[count++];
        out->duration_ns = words[count++];
    }
    if (out->has_id)
        out->id = words[count++];
    if (out->has_depth)
        out->depth = (uint32_t)words[count++];
    if (out->argument_count > NAMES_IN_HEAD)
        more = words[count++];
    for (uint32_t i = 0; i < out->argument_count; i++)
        out->arguments[i] = (struct event_extra_argument){
            .name =
                i < NAMES_IN_HEAD ? name_in(head >> NAMES_AT, i) : name_in(more, i - NAMES_IN_HEAD),
            .type = head >> (TYPES_AT + TYPE_BITS * i) & 3,
            .word = words[count++],
        };
    return count;
}
