#include "sample_words.h"

#include <stddef.h>

static const char *const end_names[] = {
#define END_NAME(name, wire, text) [FEED_END_##name] = wire,
    FEED_ENDS(END_NAME)
#undef END_NAME
};

const char *sample_vm_tag(uint8_t state)
{
#define STATE_TEXT(name, text) text,
    static const char *const texts[] = { FEED_STATES(STATE_TEXT) };

    return state < FEED_STATE_COUNT ? texts[state] : "Blocked";
}

const char *sample_user_tag(const char *tag, const char *thread_name)
{
    if (tag)
        return tag;
    return thread_name && *thread_name ? thread_name : "Default";
}

const char *sample_end_word(enum feed_end end)
{
    bool known = end != FEED_END_ROOT && (size_t)end < sizeof(end_names) / sizeof(*end_names);

    return known ? end_names[end] : NULL;
}
