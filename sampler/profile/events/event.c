#include "event.h"

#include <stdlib.h>
#include <string.h>

/* Gives words that are copied no key, so that their texts are. */
static void forget_keys(struct event_argument *arguments, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        arguments[i].name.key = 0;
        if (arguments[i].type == FEED_ARGUMENT_TEXT)
            arguments[i].text.key = 0;
    }
}

static size_t text_bytes(const struct event_argument *argument, bool all)
{
    bool text = argument->type == FEED_ARGUMENT_TEXT;

    return (all || !argument->name.key ? argument->name.bytes + 1 : 0) +
           (text && (all || !argument->text.key) ? argument->text.bytes + 1 : 0);
}

/* With a zero behind it. */
static char *move_word(struct event_word *word, char *to)
{
    if (word->key)
        return to;
    if (word->bytes)
        memcpy(to, word->text, word->bytes);
    to[word->bytes] = 0;
    word->text = to;
    return to + word->bytes + 1;
}

struct event_argument *event_arguments_copy(const struct event_argument *first,
                                            uint32_t first_count,
                                            const struct event_argument *second,
                                            uint32_t second_count, bool all)
{
    uint32_t count = first_count + second_count;
    size_t bytes = 0;
    struct event_argument *copy;
    char *texts;

    for (uint32_t i = 0; i < count; i++)
        bytes += text_bytes(i < first_count ? &first[i] : &second[i - first_count], all);
    copy = malloc(count * sizeof(*copy) + bytes);
    if (!copy)
        return NULL;
    texts = (char *)&copy[count];
    for (uint32_t i = 0; i < count; i++)
        copy[i] = i < first_count ? first[i] : second[i - first_count];
    if (all)
        forget_keys(copy, count);
    for (uint32_t i = 0; i < count; i++) {
        texts = move_word(&copy[i].name, texts);
        if (copy[i].type == FEED_ARGUMENT_TEXT)
            texts = move_word(&copy[i].text, texts);
    }
    return copy;
}
