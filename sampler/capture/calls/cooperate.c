/*
 * cooperate.c - what a program tells the sampler: isoscope.h but for start and stop.
 *
 * Each running sampler has an epoch. A thread that calls in another epoch than its own is made
 * known first (attach); after that a tag costs two stores.
 */
#include "cooperate.h"

#include "preload.h"

#include "../../feed/sys.h"
#include "../../include/isoscope/isoscope.h"
#include "../sampler.h"
#include "../threads/own_thread.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

static __thread struct own_thread own_thread;
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
    if (slot && own_thread.name[0])
        threads_give_name(&sampler.threads, slot, own_thread.name);
}

void cooperate_enter(uint32_t slot)
{
    int32_t tid = sys_gettid();

    if (own_thread.tid != tid) /* a forked child has its parent's memory */
        own_thread.samples = 0;
    own_thread.tid = tid;
    own_thread.epoch = atomic_load_explicit(&epoch, memory_order_relaxed);
    if (slot)
        atomic_store_explicit(&threads_watch(&sampler.threads, slot)->own, &own_thread,
                              memory_order_release);
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

/* ---- threads ---- */

/* This thread's memory is that of another one: it was made with a raw clone and shares it. */
static bool memory_is_shared(int32_t tid)
{
    return own_thread.tid && own_thread.tid != tid;
}

/* The calling thread's slot, its own from now on. */
static uint32_t take_slot(int32_t tid)
{
    const struct stack_range unknown = { 0 };
    uint32_t slot = threads_find(&sampler.threads, tid);

    if (!slot)
        slot = threads_take(&sampler.threads, tid, &unknown, false);
    if (slot && !memory_is_shared(tid))
        preload_keep_slot(slot);
    return slot;
}

__attribute__((noinline)) static void attach(void)
{
    own_thread.epoch = atomic_load_explicit(&epoch, memory_order_acquire);
    if (!own_thread.epoch || !sampler_running())
        return;
    take_slot(sys_gettid());
    sampler_wake();
}

static inline void know_thread(void)
{
    if (__builtin_expect(own_thread.epoch != atomic_load_explicit(&epoch, memory_order_relaxed), 0))
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
        memcpy(own_thread.name, text, sizeof text);
    if (!sampler_running())
        return -ISOSCOPE_NO_SERVICE;
    slot = take_slot(tid);
    if (!slot)
        return -ISOSCOPE_NO_MEMORY;
    if (name)
        threads_give_name(&sampler.threads, slot, text);
    sampler_wake();
    return 0;
}

void isoscope_thread_unregister(void)
{
    int32_t tid = sys_gettid();
    bool shared = memory_is_shared(tid);

    if (!shared)
        own_thread.name[0] = 0;
    if (!sampler_running())
        return;
    threads_leave(&sampler.threads, threads_find(&sampler.threads, tid));
    if (!shared)
        preload_keep_slot(0);
    sampler_wake();
}

uint64_t isoscope_sample_count(void)
{
    know_thread();
    return own_thread.samples;
}

/* ---- tags ---- */

void isoscope_tag_push(const char *tag)
{
    uint32_t depth = own_thread.depth;

    know_thread();
    if (depth < OWN_TAGS_MAX)
        own_thread.tags[depth] = tag;
    own_thread.depth = depth + 1; /* last: a tick in between finds the tag before */
}

void isoscope_tag_pop(void)
{
    uint32_t depth = own_thread.depth;

    if (depth)
        own_thread.depth = depth - 1;
}

/* ---- settings ---- */

int isoscope_set_period(uint32_t period_us)
{
    if (period_us < FEED_PERIOD_MIN_US || period_us > FEED_PERIOD_MAX_US)
        return -ISOSCOPE_INVALID;
    if (!sampler_running())
        return -ISOSCOPE_NO_SERVICE;
    atomic_store_explicit(&sampler.segment.header->control.period_us, period_us,
                          memory_order_relaxed);
    sampler_wake();
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
    if (!sampler_running())
        return -ISOSCOPE_NO_SERVICE;
    pthread_mutex_lock(&code_lock);
    error = named_code_add(&sampler.named, &sampler.modules.maps, (uintptr_t)start, size, name);
    pthread_mutex_unlock(&code_lock);
    return error;
}

int isoscope_code_unregister(const void *start)
{
    int error;

    if (!sampler_running())
        return -ISOSCOPE_NO_SERVICE;
    pthread_mutex_lock(&code_lock);
    error = named_code_remove(&sampler.named, &sampler.modules.maps, (uintptr_t)start);
    pthread_mutex_unlock(&code_lock);
    return error;
}

int isoscope_set_frame_provider(const void *start, size_t size, isoscope_frame_provider provider,
                                void *context)
{
    int error;

    if (provider && !is_range(start, size))
        return -ISOSCOPE_INVALID;
    pthread_mutex_lock(&code_lock);
    error = named_code_set_provider(&sampler.named, &sampler.modules.maps, (uintptr_t)start, size,
                                    provider, context);
    pthread_mutex_unlock(&code_lock);
    return error;
}
