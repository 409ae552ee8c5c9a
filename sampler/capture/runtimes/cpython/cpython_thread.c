#include "cpython_thread.h"

#include <stdatomic.h>

enum {
    INTERPRETERS_MAX = 64,
    THREADS_MAX = 4096,
    /* With aarch64's glibc a thread's descriptor, which pthread_self() is, lies below where its
     * thread pointer leads, and nothing else of another thread is as near. */
    DESCRIPTOR_BYTES_MAX = 4096
};

static SIGNAL_SAFE bool is_pthread(const struct runtime_scan *scan, uint64_t id)
{
    if (!scan->thread_pointer)
        return false;
#ifdef __aarch64__
    return scan->thread_pointer - id < DESCRIPTOR_BYTES_MAX;
#else
    return scan->thread_pointer == id;
#endif
}

/* A sleeper of another process may be known by its number alone. Where states have none (up to 3.10), each is
 * taken for its own: whose frames lie in its stack decides (cpython.c), if they leave a record there. */
static SIGNAL_SAFE bool is_ours(struct runtime_scan *scan, const uint64_t *words, uint64_t state)
{
    uint64_t id;

    if (cpython_field(scan, state, words[CPYTHON_THREAD_ID], &id) && is_pthread(scan, id))
        return true;
    /* After a fork the number may be the parent's: it is asked where there is nothing better. */
    if (scan->thread_pointer)
        return false;
    if (words[CPYTHON_THREAD_NATIVE_ID] == CPYTHON_NO_FIELD)
        return words[CPYTHON_CHAIN] == CPYTHON_CHAIN_CFRAMES;
    return cpython_field(scan, state, words[CPYTHON_THREAD_NATIVE_ID], &id) &&
           id == (uint64_t)scan->tid;
}

/* Its neighbour knows it: what was freed is in no list. */
static SIGNAL_SAFE bool is_linked(struct runtime_scan *scan, const uint64_t *words, uint64_t state)
{
    uint64_t previous, interpreter, known;

    if (!cpython_field(scan, state, words[CPYTHON_THREAD_PREVIOUS], &previous))
        return false;
    if (previous)
        return cpython_field(scan, previous, words[CPYTHON_THREAD_NEXT], &known) && known == state;
    return cpython_field(scan, state, words[CPYTHON_THREAD_INTERPRETER], &interpreter) &&
           cpython_field(scan, interpreter, words[CPYTHON_INTERPRETER_THREADS], &known) &&
           known == state;
}

/* after: those up to it are passed by; 0 when it has been passed, or from the start. */
static SIGNAL_SAFE uint64_t in_interpreter(struct runtime_scan *scan, const uint64_t *words,
                                           uint64_t interpreter, uint64_t *after)
{
    uint64_t state, owner, passed = 0;

    if (!cpython_field(scan, interpreter, words[CPYTHON_INTERPRETER_THREADS], &state))
        return 0;
    for (; state && passed < THREADS_MAX; passed++) {
        if (!*after && is_ours(scan, words, state) &&
            cpython_field(scan, state, words[CPYTHON_THREAD_INTERPRETER], &owner) &&
            owner == interpreter)
            return state;
        if (state == *after)
            *after = 0;
        if (!cpython_field(scan, state, words[CPYTHON_THREAD_NEXT], &state))
            return 0;
    }
    return 0;
}

static SIGNAL_SAFE uint64_t look_through(struct runtime_scan *scan, const uint64_t *words,
                                         uint64_t after)
{
    uint64_t interpreter, state;

    if (!cpython_field(scan, words[CPYTHON_RUNTIME], words[CPYTHON_INTERPRETERS], &interpreter))
        return 0;
    for (uint32_t passed = 0; interpreter && passed < INTERPRETERS_MAX; passed++) {
        state = in_interpreter(scan, words, interpreter, &after);
        if (state)
            return state;
        if (!cpython_field(scan, interpreter, words[CPYTHON_INTERPRETER_NEXT], &interpreter))
            return 0;
    }
    return 0;
}

uint64_t cpython_thread_next(struct runtime_scan *scan, uint32_t entry, uint64_t after)
{
    return look_through(scan, scan->writer->runtimes[entry].words, after);
}

uint64_t cpython_thread_state(struct runtime_scan *scan, uint32_t entry)
{
    const uint64_t *words = scan->writer->runtimes[entry].words;
    _Atomic uint64_t *place;
    uint64_t state;

    if (scan->memory.pid || !scan->cache)
        return look_through(scan, words, 0);
    place = code_cache_state(scan->cache, scan->tid, entry);
    state = atomic_load_explicit(place, memory_order_relaxed);
    if (state && is_ours(scan, words, state) && is_linked(scan, words, state))
        return state;
    state = look_through(scan, words, 0);
    if (state)
        atomic_store_explicit(place, state, memory_order_relaxed);
    return state;
}
