#include "ruby_thread.h"

#include <stdatomic.h>

enum {
    RACTORS_MAX = 64,
    THREADS_MAX = 4096,
    /* With aarch64's glibc a thread's descriptor, which pthread_self() is, lies below where its
     * thread pointer leads, and nothing else of another thread is as near. */
    DESCRIPTOR_BYTES_MAX = 4096
};

static SIGNAL_SAFE bool is_ours(struct runtime_scan *scan, const uint64_t *words, uint64_t thread)
{
    uint64_t id;
    int32_t native_id;

    if (!scan->thread_pointer)
        return guarded_read(&scan->memory, &native_id, thread + words[RUBY_THREAD_NATIVE_ID],
                            sizeof native_id) &&
               native_id == scan->tid;
    if (!guarded_word(&scan->memory, thread + words[RUBY_THREAD_ID], &id))
        return false;
#ifdef __aarch64__
    return scan->thread_pointer - id < DESCRIPTOR_BYTES_MAX;
#else
    return scan->thread_pointer == id;
#endif
}

/* Its neighbour knows it: what was freed is in no list. */
static SIGNAL_SAFE bool is_linked(struct runtime_scan *scan, uint64_t thread)
{
    uint64_t next, known;

    return guarded_word(&scan->memory, thread, &next) &&
           guarded_word(&scan->memory, next + sizeof next, &known) && known == thread;
}

static SIGNAL_SAFE uint64_t in_ractor(struct runtime_scan *scan, const uint64_t *words,
                                      uint64_t ractor)
{
    const uint64_t head = ractor + words[RUBY_RACTOR_THREADS];
    uint64_t thread = head;

    for (uint32_t passed = 0; passed < THREADS_MAX; passed++) {
        if (!guarded_word(&scan->memory, thread, &thread) || thread == head)
            return 0;
        if (is_ours(scan, words, thread))
            return thread;
    }
    return 0;
}

static SIGNAL_SAFE uint64_t look_through(struct runtime_scan *scan, const uint64_t *words)
{
    uint64_t vm, head, node, thread;

    if (!guarded_word(&scan->memory, words[RUBY_VM], &vm) || !vm)
        return 0;
    head = node = vm + words[RUBY_VM_RACTORS];
    for (uint32_t passed = 0; passed < RACTORS_MAX; passed++) {
        if (!guarded_word(&scan->memory, node, &node) || node == head)
            return 0;
        thread = in_ractor(scan, words, node - words[RUBY_RACTOR_NODE]);
        if (thread)
            return thread;
    }
    return 0;
}

uint64_t ruby_thread_ec(struct runtime_scan *scan, uint32_t entry)
{
    const uint64_t *words = scan->writer->runtimes[entry].words;
    _Atomic uint64_t *place = scan->cache ? code_cache_state(scan->cache, scan->tid, entry) : NULL;
    uint64_t thread = place ? atomic_load_explicit(place, memory_order_relaxed) : 0, ec;

    if (!thread || !is_ours(scan, words, thread) || !is_linked(scan, thread)) {
        thread = look_through(scan, words);
        if (place)
            atomic_store_explicit(place, thread, memory_order_relaxed);
    }
    return thread && guarded_word(&scan->memory, thread + words[RUBY_THREAD_EC], &ec) ? ec : 0;
}
