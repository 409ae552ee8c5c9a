/*
 * code_cache.h - codes that were met before, by what identifies them.
 *
 *   a walker (address and contents) -> code_cache_find -> id; 0: read its texts, feed_writer_code,
 *   code_cache_put
 *
 * An entry is one word: 40 bits of the key's hash and the id. One that is in the way is replaced; so
 * there is no lock, and nothing to take away. Two keys are taken for one once in 2^50.
 *
 * Threads    Any, at the same time. Signals: SIGNAL_SAFE.
 */
#ifndef ISOSCOPE_CODE_CACHE_H
#define ISOSCOPE_CODE_CACHE_H

#include "../../feed/signal_safe.h"

#include <stdatomic.h>
#include <stdint.h>

enum { CODE_CACHE_SLOTS = 1 << 14, CODE_CACHE_ID_BITS = 24, CODE_CACHE_THREADS = 512 };

/* Of one process. All zeros at first; 132 KiB, of which a program touches what it uses. */
struct code_cache {
    _Atomic uint64_t slots[CODE_CACHE_SLOTS];
    _Atomic uint64_t states[CODE_CACHE_THREADS];
};

/* Where a walker remembers a thread's state in its runtime. What it finds there may be another
 * thread's, or gone: it is checked as any word. */
SIGNAL_SAFE_INLINE _Atomic uint64_t *code_cache_state(struct code_cache *cache, int32_t tid,
                                                      uint32_t entry)
{
    return &cache->states[((uint32_t)tid * 2 + entry) % CODE_CACHE_THREADS];
}

/* Of all words that identify a code: code_key_begin, then code_key_add for each. */
SIGNAL_SAFE_INLINE uint64_t code_key_begin(uint32_t runtime)
{
    return (runtime + 1) * UINT64_C(0x9e3779b97f4a7c15);
}

SIGNAL_SAFE_INLINE uint64_t code_key_add(uint64_t key, uint64_t word)
{
    key = (key ^ word) * UINT64_C(0xff51afd7ed558ccd);
    return key ^ key >> 32;
}

/* 0: not known. */
SIGNAL_SAFE_INLINE uint32_t code_cache_find(const struct code_cache *cache, uint64_t key)
{
    uint64_t word =
        atomic_load_explicit(&cache->slots[key % CODE_CACHE_SLOTS], memory_order_relaxed);

    return word >> CODE_CACHE_ID_BITS == key >> CODE_CACHE_ID_BITS
               ? (uint32_t)(word & ((1 << CODE_CACHE_ID_BITS) - 1))
               : 0;
}

SIGNAL_SAFE_INLINE void code_cache_put(struct code_cache *cache, uint64_t key, uint32_t id)
{
    if (id)
        atomic_store_explicit(&cache->slots[key % CODE_CACHE_SLOTS],
                              key >> CODE_CACHE_ID_BITS << CODE_CACHE_ID_BITS | id,
                              memory_order_relaxed);
}

#endif
