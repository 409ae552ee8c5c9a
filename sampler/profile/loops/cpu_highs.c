#include "cpu_highs.h"

void cpu_highs_begin(struct cpu_highs *highs)
{
    pthread_mutex_init(&highs->lock, NULL);
}

void cpu_highs_end(struct cpu_highs *highs)
{
    pthread_mutex_destroy(&highs->lock);
}

void cpu_highs_add(struct cpu_highs *highs, uint64_t process_id, int32_t tid,
                   const struct cpu_use *use)
{
    pthread_mutex_lock(&highs->lock);
    highs->last++;
    highs->list[highs->last % CPU_HIGHS_MAX] = (struct cpu_high){
        .number = highs->last,
        .process_id = process_id,
        .tid = tid,
        .from_us = use->from_ns / 1000,
        .to_us = use->to_ns / 1000,
        .permille = use->permille,
    };
    pthread_mutex_unlock(&highs->lock);
}

/* With the lock: the first behind it that is still known. */
static uint64_t first_behind(const struct cpu_highs *highs, uint64_t since)
{
    uint64_t oldest = highs->last > CPU_HIGHS_MAX ? highs->last - CPU_HIGHS_MAX + 1 : 1;

    return since + 1 > oldest ? since + 1 : oldest;
}

size_t cpu_highs_list(struct cpu_highs *highs, uint64_t since, struct cpu_high *out,
                      size_t capacity)
{
    size_t count = 0;

    pthread_mutex_lock(&highs->lock);
    for (uint64_t number = first_behind(highs, since); number <= highs->last && since < highs->last;
         number++, count++)
        if (count < capacity)
            out[count] = highs->list[number % CPU_HIGHS_MAX];
    pthread_mutex_unlock(&highs->lock);
    return count;
}

bool cpu_highs_next(struct cpu_highs *highs, struct cpu_high *out)
{
    uint64_t number;
    bool any;

    pthread_mutex_lock(&highs->lock);
    number = first_behind(highs, highs->told);
    any = number <= highs->last;
    if (any) {
        *out = highs->list[number % CPU_HIGHS_MAX];
        highs->told = number;
    }
    pthread_mutex_unlock(&highs->lock);
    return any;
}
