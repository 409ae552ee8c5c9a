#include "known_loops.h"

#include "../../include/isoscope/isoscope.h"
#include "../base/grow.h"
#include "../store/names.h"

#include <string.h>

int known_loops_new(struct known_loops *loops)
{
    return names_new(&loops->texts);
}

void known_loops_free(struct known_loops *loops)
{
    for (uint32_t i = 0; i < loops->count; i++)
        free(loops->list[i]);
    free(loops->list);
    names_free(loops->texts);
}

struct watched_loop *known_loops_add(struct known_loops *loops, uint64_t process_id)
{
    struct watched_loop *loop = calloc(1, sizeof(*loop));

    if (!loop || !GROW(loops->list, loops->count, loops->capacity)) {
        free(loop);
        return NULL;
    }
    loop->number = ++loops->last_number;
    loop->process_id = process_id;
    loop->name = loop->thread_name = "";
    loop->look_ns = INT64_MAX;
    loops->list[loops->count++] = loop;
    return loop;
}

static void forget_oldest(struct known_loops *loops)
{
    uint32_t i = 0;

    while (!loops->list[i]->ended)
        i++;
    free(loops->list[i]);
    memmove(&loops->list[i], &loops->list[i + 1],
            (loops->count - i - 1) * sizeof(struct watched_loop *));
    loops->count--;
    loops->ended--;
}

void known_loops_ended(struct known_loops *loops)
{
    loops->ended++;
    if (loops->ended > KNOWN_ENDED_MAX)
        forget_oldest(loops);
}

const char *known_loops_text(struct known_loops *loops, const char *text)
{
    uint32_t number = *text ? names_number(loops->texts, text) : 0;

    return number ? names_text(loops->texts, number) : "";
}

static bool is_of(const struct watched_loop *loop, uint64_t process_id)
{
    return !process_id || loop->process_id == process_id;
}

size_t known_loops_tell(const struct known_loops *loops, uint64_t process_id, struct loop_info *out,
                        size_t capacity)
{
    size_t count = 0;

    for (uint32_t i = 0; i < loops->count; i++) {
        if (!is_of(loops->list[i], process_id))
            continue;
        if (count < capacity)
            watched_loop_tell(loops->list[i], &out[count]);
        count++;
    }
    return count;
}

void known_loops_clear(struct known_loops *loops, uint64_t process_id)
{
    for (uint32_t i = 0; i < loops->count; i++)
        if (is_of(loops->list[i], process_id))
            watched_loop_clear(loops->list[i]);
}
