/*
 * owner.h - whose samples they are: a process, and a thread of it.
 *
 *   collector (makes them) -> chunk (holds the threads its samples came from) -> snapshot
 *
 * Ownership  Counted. A thread holds its owner; a chunk holds its threads. So what a stored sample
 *            says stays true after the process is gone, and goes with the last chunk that says it.
 * Threads    Holding and releasing: any. Everything guarded by the store's lock is marked so.
 */
#ifndef ISOSCOPE_OWNER_H
#define ISOSCOPE_OWNER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { OWNER_STATES = 16 };

/* The samples of one process in the store. */
struct owner {
    _Atomic uint32_t references;
    uint64_t process_id;
    uint64_t visible_from;     /* store lock: samples with a smaller sequence number were cleared */
    uint64_t samples;          /* store lock: visible ones */
    uint64_t evicted;          /* store lock */
    bool gives;                /* store lock: it has more than its share of a full store */
    _Atomic uint64_t unstored; /* taken from the feed and not kept: no memory, or too late */
    struct owner_thread *sampled; /* store lock: its threads that have visible samples */
};

struct owner_thread {
    _Atomic uint32_t references;
    uint64_t serial; /* of all threads that this service ever had */
    int32_t tid;
    struct owner *owner;
    char name[16];         /* store lock: store_rename */
    uint64_t chunk_serial; /* store lock: the chunk that knows this thread as chunk_source */
    uint16_t chunk_source; /* store lock: ... with the tag it last had */
    uint64_t visible_from; /* store lock: as the owner's */
    uint64_t samples;      /* store lock: visible ones */
    uint32_t states[OWNER_STATES];     /* store lock: those, by their state */
    struct owner_thread *next, **link; /* store lock: in owner->sampled, while samples is not 0 */
};

int owner_new(struct owner **out, uint64_t process_id);
struct owner *owner_hold(struct owner *owner);
void owner_release(struct owner *owner); /* NULL is fine */

/* name: 0-terminated, at most 15 bytes of it are kept. */
int owner_thread_new(struct owner_thread **out, struct owner *owner, int32_t tid, const char *name);
struct owner_thread *owner_thread_hold(struct owner_thread *thread);
void owner_thread_release(struct owner_thread *thread); /* NULL is fine */

#endif
