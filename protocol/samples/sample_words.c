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

const char *sample_end_word(enum feed_end end)
{
    bool known = end != FEED_END_ROOT && (size_t)end < sizeof(end_names) / sizeof(*end_names);

    return known ? end_names[end] : NULL;
}

const char *sample_wait_word(uint8_t what)
{
#define WAIT_WORD(name, word) word,
    static const char *const words[FEED_WAIT_COUNT] = { FEED_WAITS(WAIT_WORD) };
#undef WAIT_WORD

    return what < FEED_WAIT_COUNT ? words[what] : "futex";
}

void sample_members(struct json_text *text, const struct snapshot_sample *sample)
{
    json_text_literal(text, "\"tid\":");
    json_text_int(text, sample->tid);
    json_text_literal(text, ",\"timestamp\":");
    json_text_int(text, sample->timestamp_us);
    json_text_literal(text, ",\"vmTag\":");
    json_text_string(text, sample_vm_tag(sample->state));
    json_text_literal(text, ",\"userTag\":");
    json_text_string(text, snapshot_user_tag(sample->tag, sample->thread_name));
    if (sample->end != FEED_END_ROOT)
        json_text_literal(text, ",\"truncated\":true");
}
