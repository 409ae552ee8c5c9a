#include "thread_choice.h"

#include <stdatomic.h>
#include <string.h>

struct known_choice {
    uint32_t list_seq, name_seq; /* list_seq 0: not yet */
    int32_t tid;
    bool chosen;
};

void thread_choice_free(struct thread_choice *choice)
{
    by_slot_free(&choice->known, sizeof(struct known_choice));
}

/* A list that is being written is left for the next round. */
void thread_choice_follow(struct thread_choice *choice, const struct feed_writer *writer)
{
    struct feed_control *control = &writer->header->control;
    uint32_t seq = atomic_load_explicit(&control->wall_threads_seq, memory_order_acquire);
    char copy[FEED_WALL_THREADS_BYTES];

    if (seq == choice->list_seq || seq % 2)
        return;
    for (uint32_t i = 0; i < sizeof copy; i++)
        copy[i] = atomic_load_explicit(&control->wall_threads[i], memory_order_relaxed);
    atomic_thread_fence(memory_order_acquire);
    if (atomic_load_explicit(&control->wall_threads_seq, memory_order_relaxed) != seq)
        return;
    memcpy(choice->list, copy, sizeof(copy));
    choice->list[sizeof(copy) - 1] = 0;
    choice->list_seq = seq;
}

/* text: with its end; pattern: bytes of it, of which '*' stands for any number of characters. */
static bool matches(const char *pattern, size_t bytes, const char *text)
{
    const char *end = pattern + bytes, *star = NULL, *resume = text;

    while (*text) {
        if (pattern < end && *pattern == '*') {
            star = pattern++;
            resume = text;
        } else if (pattern < end && *pattern == *text) {
            pattern++;
            text++;
        } else if (star) {
            pattern = star + 1;
            text = ++resume;
        } else {
            return false;
        }
    }
    while (pattern < end && *pattern == '*')
        pattern++;
    return pattern == end;
}

static bool is_number(const char *text, size_t bytes, int32_t number)
{
    int64_t value = 0;

    for (size_t i = 0; i < bytes; i++) {
        if (text[i] < '0' || text[i] > '9' || value > INT32_MAX)
            return false;
        value = value * 10 + (text[i] - '0');
    }
    return bytes && value == number;
}

bool thread_choice_matches(const char *patterns, const char *name, int32_t tid)
{
    while (*patterns) {
        const char *comma = strchr(patterns, ',');
        size_t bytes = comma ? (size_t)(comma - patterns) : strlen(patterns);
        const char *next = patterns + bytes + (comma != NULL);

        while (bytes && *patterns == ' ') {
            patterns++;
            bytes--;
        }
        while (bytes && patterns[bytes - 1] == ' ')
            bytes--;
        if (bytes && (matches(patterns, bytes, name) || is_number(patterns, bytes, tid)))
            return true;
        patterns = next;
    }
    return false;
}

bool thread_chosen(struct thread_choice *choice, const struct feed_writer *writer, uint32_t slot,
                   int32_t tid)
{
    const struct feed_thread *thread = &writer->threads[slot];
    uint32_t name_seq = atomic_load_explicit(&thread->name_seq, memory_order_acquire);
    uint64_t name[3] = { 0 };
    struct known_choice *known;

    if (!choice->list[0] || !by_slot_reach(&choice->known, slot, sizeof(*known)))
        return true;
    known = by_slot_at(&choice->known, slot, sizeof(*known));
    if (known->list_seq == choice->list_seq && known->name_seq == name_seq && known->tid == tid)
        return known->chosen;
    name[0] = atomic_load_explicit(&thread->name[0], memory_order_relaxed);
    name[1] = atomic_load_explicit(&thread->name[1], memory_order_relaxed);
    *known = (struct known_choice){
        .list_seq = choice->list_seq,
        .name_seq = name_seq,
        .tid = tid,
        .chosen = thread_choice_matches(choice->list, (const char *)name, tid),
    };
    return known->chosen;
}
