#include "limits.h"

#include "annealing.h"

static const int64_t day_ns = INT64_C(24) * 3600 * 1000000000;

static bool in_day(const struct limits_entry *entry, int64_t now_ns)
{
    return entry->told_today && now_ns - entry->day_ns < day_ns;
}

/* The entry of that loop and key, or the one to be forgotten for it. */
static struct limits_entry *entry_of(struct limits_entry *entries, uint32_t count, uint32_t loop,
                                     uint64_t key, int64_t now_ns)
{
    struct limits_entry *oldest = &entries[0];

    for (uint32_t i = 0; i < count; i++) {
        struct limits_entry *entry = &entries[i];

        if (entry->used && entry->loop == loop && entry->key == key) {
            entry->used_ns = now_ns;
            return entry;
        }
        if (oldest->used && (!entry->used || entry->used_ns < oldest->used_ns))
            oldest = entry;
    }
    *oldest = (struct limits_entry){ .used = true, .loop = loop, .key = key, .used_ns = now_ns };
    return oldest;
}

static void count_told(struct limits_entry *entry, int64_t now_ns)
{
    if (!in_day(entry, now_ns)) {
        entry->told_today = 0;
        entry->day_ns = now_ns;
    }
    entry->told_today++;
}

static bool full(const struct limits_entry *entry, int64_t now_ns, uint32_t most)
{
    return in_day(entry, now_ns) && entry->told_today >= most;
}

static struct limits_entry *stack_of(struct limits *limits, uint32_t loop, uint64_t key,
                                     int64_t now_ns)
{
    return entry_of(limits->stacks, LIMITS_STACKS_MAX, loop, key, now_ns);
}

static struct limits_entry *loop_of(struct limits *limits, uint32_t loop, int64_t now_ns)
{
    return entry_of(limits->loops, LIMITS_LOOPS_MAX, loop, 0, now_ns);
}

struct limits_answer limits_foresee(struct limits *limits, uint32_t loop, uint64_t key,
                                    int64_t now_ns)
{
    const struct limits_entry *stack = stack_of(limits, loop, key, now_ns);
    struct limits_answer answer = { LIMITS_TOLD, stack->equals + 1 };

    if (!annealing_tells(answer.equals))
        answer.verdict = LIMITS_ANNEALED;
    else if (full(stack, now_ns, LIMITS_STACK_DAY))
        answer.verdict = LIMITS_STACK_FULL;
    else if (full(loop_of(limits, loop, now_ns), now_ns, LIMITS_LOOP_DAY))
        answer.verdict = LIMITS_LOOP_FULL;
    return answer;
}

void limits_count_begun(struct limits *limits, uint32_t loop, uint64_t key, int64_t now_ns,
                        bool told)
{
    struct limits_entry *stack = stack_of(limits, loop, key, now_ns);

    stack->equals++;
    if (told)
        count_told(stack, now_ns);
}

struct limits_answer limits_count(struct limits *limits, uint32_t loop, uint64_t key,
                                  int64_t now_ns, bool told)
{
    struct limits_answer answer = limits_foresee(limits, loop, key, now_ns);

    if (told)
        answer.verdict = LIMITS_TOLD;
    limits_count_begun(limits, loop, key, now_ns, answer.verdict == LIMITS_TOLD);
    if (answer.verdict == LIMITS_TOLD)
        count_told(loop_of(limits, loop, now_ns), now_ns);
    return answer;
}

static void forget(struct limits_entry *entries, uint32_t count, uint32_t loop)
{
    for (uint32_t i = 0; i < count; i++)
        if (entries[i].loop == loop)
            entries[i] = (struct limits_entry){ 0 };
}

void limits_forget(struct limits *limits, uint32_t loop)
{
    forget(limits->stacks, LIMITS_STACKS_MAX, loop);
    forget(limits->loops, LIMITS_LOOPS_MAX, loop);
}
