#include "owner.h"

#include "../../include/isoscope/isoscope.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* True for the last one. */
static bool drop(_Atomic uint32_t *references)
{
    return atomic_fetch_sub_explicit(references, 1, memory_order_acq_rel) == 1;
}

int owner_new(struct owner **out, uint64_t process_id)
{
    struct owner *owner = calloc(1, sizeof(*owner));

    if (!owner)
        return -ISOSCOPE_NO_MEMORY;
    atomic_init(&owner->references, 1);
    owner->process_id = process_id;
    *out = owner;
    return 0;
}

struct owner *owner_hold(struct owner *owner)
{
    atomic_fetch_add_explicit(&owner->references, 1, memory_order_relaxed);
    return owner;
}

void owner_release(struct owner *owner)
{
    if (owner && drop(&owner->references))
        free(owner);
}

int owner_thread_new(struct owner_thread **out, struct owner *owner, int32_t tid, const char *name)
{
    static _Atomic uint64_t serials;
    struct owner_thread *thread = calloc(1, sizeof(*thread));

    if (!thread)
        return -ISOSCOPE_NO_MEMORY;
    atomic_init(&thread->references, 1);
    thread->serial = atomic_fetch_add_explicit(&serials, 1, memory_order_relaxed) + 1;
    thread->tid = tid;
    thread->owner = owner_hold(owner);
    snprintf(thread->name, sizeof(thread->name), "%.15s", name);
    *out = thread;
    return 0;
}

struct owner_thread *owner_thread_hold(struct owner_thread *thread)
{
    atomic_fetch_add_explicit(&thread->references, 1, memory_order_relaxed);
    return thread;
}

void owner_thread_release(struct owner_thread *thread)
{
    if (!thread || !drop(&thread->references))
        return;
    owner_release(thread->owner);
    free(thread);
}
