/*
 * cooperate.c - what a program tells the sampler: isoscope.h but for start and stop.
 *
 * Each running sampler has an epoch. A thread that calls in another epoch than its own is made
 * known first (attach); after that a tag costs two stores.
 */
#include "cooperate.h"

#include "thread_end.h"

#include "../../feed/sys.h"
#include "../../include/isoscope/isoscope.h"
#include "../events/event_thread.h"
#include "../forked.h"
#include "../sampler_state.h"
#include "../threads/thread_annotations.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { TICKS_LOOK_NS = 100 * 1000, TICKS_LOOKS = 10000 };

static __thread struct thread_annotations thread_annotations;
static __thread uint32_t own_slot;
static _Atomic uint32_t epoch; /* 0: no sampler runs */
static uint32_t epochs;
static pthread_mutex_t code_lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- for preload.c ---- */

void cooperate_started(void)
{
    atomic_store_explicit(&epoch, ++epochs, memory_order_release);
}

void cooperate_stopped(void)
{
    atomic_store_explicit(&epoch, 0, memory_order_release);
}

static void give_name(uint32_t slot)
{
    if (slot && thread_annotations.name[0])
        threads_give_name(&sampler.threads, slot, thread_annotations.name);
}

uint32_t cooperate_slot(void)
{
    return own_slot;
}

void cooperate_enter(uint32_t slot)
{
    int32_t tid = sys_gettid();

    own_slot = slot;
    thread_end_tell(slot);
    if (thread_annotations.tid != tid) /* a forked child has its parent's memory */
        thread_annotations.samples = 0;
    thread_annotations.tid = tid;
    thread_annotations.epoch = atomic_load_explicit(&epoch, memory_order_relaxed);
    if (slot) {
        atomic_store_explicit(&threads_at(&sampler.threads, slot)->own, &thread_annotations,
                              memory_order_release);
        if (sampler.writer.header)
            atomic_store_explicit(&sampler.writer.threads[slot].own, (uint64_t)&thread_annotations,
                                  memory_order_release);
    }
    give_name(slot);
}

void cooperate_fork_prepare(void)
{
    pthread_mutex_lock(&code_lock);
}

void cooperate_fork_done(void)
{
    pthread_mutex_unlock(&code_lock);
}

/* A forked child that has something to tell begins now. */
static bool runs(void)
{
    forked_begin();
    return sampler_running();
}

/* ---- threads ---- */

/* This thread's memory is that of another one: it was made with a raw clone and shares it. */
static bool memory_is_shared(int32_t tid)
{
    return thread_annotations.tid && thread_annotations.tid != tid;
}

/* The calling thread's slot, its own from now on. */
static uint32_t take_slot(int32_t tid)
{
    const struct stack_range unknown = { 0 };
    uint32_t slot = threads_find(&sampler.threads, tid);

    if (!slot)
        slot = threads_take(&sampler.threads, tid, &unknown, false);
    if (slot && !memory_is_shared(tid))
        cooperate_enter(slot);
    return slot;
}

__attribute__((noinline)) static void attach(void)
{
    thread_annotations.epoch = atomic_load_explicit(&epoch, memory_order_acquire);
    if (!thread_annotations.epoch)
        return;
    forked_begin();
    if (!sampler_enter())
        return;
    take_slot(sys_gettid());
    sampler_leave();
}

void cooperate_know_thread(void)
{
    if (__builtin_expect(
            thread_annotations.epoch != atomic_load_explicit(&epoch, memory_order_relaxed), 0))
        attach();
}

int isoscope_thread_register(const char *name)
{
    char text[16] = { 0 };
    int32_t tid = sys_gettid();
    uint32_t slot;

    if (name)
        memcpy(text, name, strnlen(name, sizeof text - 1));
    if (name && !memory_is_shared(tid))
        memcpy(thread_annotations.name, text, sizeof text);
    if (!runs())
        return -ISOSCOPE_NO_SERVICE;
    thread_end_begin();
    slot = take_slot(tid);
    if (!slot)
        return -ISOSCOPE_NO_MEMORY;
    if (name)
        threads_give_name(&sampler.threads, slot, text);
    return 0;
}

void isoscope_thread_unregister(void)
{
    int32_t tid = sys_gettid();
    bool shared = memory_is_shared(tid);

    if (!shared)
        thread_annotations.name[0] = 0;
    if (!runs())
        return;
    threads_leave(&sampler.threads, threads_find(&sampler.threads, tid));
    if (!shared) {
        cooperate_enter(0);
        event_thread_forget();
    }
}

uint64_t isoscope_sample_count(void)
{
    cooperate_know_thread();
    return thread_annotations.samples;
}

/* ---- tags ---- */

void isoscope_tag_push(const char *tag)
{
    uint32_t depth = thread_annotations.depth;

    cooperate_know_thread();
    if (depth < OWN_TAGS_MAX)
        thread_annotations.tags[depth] = tag;
    thread_annotations.depth = depth + 1; /* last: a tick in between finds the tag before */
}

void isoscope_tag_pop(void)
{
    uint32_t depth = thread_annotations.depth;

    if (depth)
        thread_annotations.depth = depth - 1;
}

/* ---- settings ---- */

int isoscope_set_period(uint32_t period_us)
{
    if (period_us < FEED_PERIOD_MIN_US || period_us > FEED_PERIOD_MAX_US)
        return -ISOSCOPE_INVALID;
    if (!runs())
        return -ISOSCOPE_NO_SERVICE;
    atomic_store_explicit(&sampler.writer.header->control.period_us, period_us,
                          memory_order_relaxed);
    atomic_fetch_add_explicit(&sampler.writer.header->control.changes, 1, memory_order_release);
    sampler_ask_service();
    return 0;
}

/* ---- code ---- */

static bool is_range(const void *start, size_t size)
{
    return start && size && size <= UINTPTR_MAX - (uintptr_t)start;
}

int isoscope_code_register(const void *start, size_t size, const char *name)
{
    int error;

    if (!is_range(start, size) || !name)
        return -ISOSCOPE_INVALID;
    if (!runs())
        return -ISOSCOPE_NO_SERVICE;
    pthread_mutex_lock(&code_lock);
    error = named_code_add(&sampler.named, &sampler.modules.maps, (uintptr_t)start, size, name);
    pthread_mutex_unlock(&code_lock);
    return error;
}

int isoscope_code_unregister(const void *start)
{
    int error;

    if (!runs())
        return -ISOSCOPE_NO_SERVICE;
    pthread_mutex_lock(&code_lock);
    error = named_code_remove(&sampler.named, &sampler.modules.maps, (uintptr_t)start);
    pthread_mutex_unlock(&code_lock);
    return error;
}

/* ---- interpreters ---- */

static int add_provider(const void *start, size_t size, struct provider_range range)
{
    int error;

    if (!is_range(start, size))
        return -ISOSCOPE_INVALID;
    range.start = (uintptr_t)start;
    range.end = (uintptr_t)start + size;
    pthread_mutex_lock(&code_lock);
    error = frame_providers_add(&sampler.providers, &sampler.modules.maps, &range);
    pthread_mutex_unlock(&code_lock);
    return error;
}

int isoscope_frame_provider_register(const void *start, size_t size,
                                     isoscope_frame_provider provider, void *context)
{
    const struct provider_range range = { .call = provider, .context = context };

    return provider ? add_provider(start, size, range) : -ISOSCOPE_INVALID;
}

int isoscope_code_provider_register(const void *start, size_t size, isoscope_code_provider provider,
                                    isoscope_code_describe describe, void *context)
{
    const struct provider_range range = { .code = provider,
                                          .describe = describe,
                                          .context = context };

    return provider && describe ? add_provider(start, size, range) : -ISOSCOPE_INVALID;
}

/* Of those that may have found what is no longer there. Without the lock: one may be long. */
static int await_ticks(void)
{
    const struct timespec moment = { 0, TICKS_LOOK_NS };
    uint8_t drained = 0;

    for (int looks = 0; looks < TICKS_LOOKS; looks++) {
        drained |= code_maps_empty_groups(&sampler.modules.maps);
        if (drained == 3)
            return 0;
        sys_call2(SYS_nanosleep, &moment, 0);
    }
    return -ISOSCOPE_PENDING;
}

int isoscope_frame_provider_unregister(const void *start)
{
    int error;

    pthread_mutex_lock(&code_lock);
    error = frame_providers_remove(&sampler.providers, &sampler.modules.maps, (uintptr_t)start);
    pthread_mutex_unlock(&code_lock);
    return error ? error : await_ticks();
}
