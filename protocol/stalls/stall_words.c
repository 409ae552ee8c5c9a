#include "stall_words.h"

const char *const stall_level_words[STALL_LEVEL_COUNT] = {
#define LEVEL_WORD(name, word) [STALL_LEVEL_##name] = word,
    STALL_LEVELS(LEVEL_WORD)
};

const char *const stall_cause_words[STALL_CAUSE_COUNT] = {
#define CAUSE_WORD(name, word, text) [STALL_CAUSE_##name] = word,
    STALL_CAUSES(CAUSE_WORD)
};

const char *const loop_kind_words[FEED_LOOP_KIND_COUNT] = {
#define KIND_WORD(name, word) [FEED_LOOP_##name] = word,
    FEED_LOOP_KINDS(KIND_WORD)
};

const char *const watch_words[FEED_WATCH_COUNT] = {
#define WATCH_WORD(name, word) [FEED_WATCH_##name] = word,
    FEED_WATCHES(WATCH_WORD)
};

struct stall_range stall_range_us(struct stall_range ns)
{
    return (struct stall_range){ ns.min / 1000, (ns.max + 999) / 1000 };
}

int64_t stall_range_ms(struct stall_range ns)
{
    return (ns.min + (ns.max - ns.min) / 2 + 500000) / 1000000;
}

const char *stall_watch_text(const struct stall_settings *settings)
{
    if (settings->names[0] && settings->watch != FEED_WATCH_NONE)
        return settings->names;
    return watch_words[settings->watch];
}

int32_t stall_pid(struct profile *profile, uint64_t process_id)
{
    struct process_info process;

    return profile_process(profile, process_id, &process) ? process.pid : 0;
}
