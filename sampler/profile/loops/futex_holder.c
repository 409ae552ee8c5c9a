#include "futex_holder.h"

#include <linux/futex.h>
#include <pthread.h>
#include <stddef.h>

#ifndef FUTEX_LOCK_PI2
#define FUTEX_LOCK_PI2 13
#endif

enum {
    MUTEX_CONTENDED = 2,      /* what waiters of glibc's mutexes expect in the word */
    MUTEX_KINDS = 3 | 7 << 7, /* types; shared, and two of lock elision: no robust one, no PI */
    RWLOCK_WRITTEN = 3,       /* what waiters for a writer expect: it writes, and somebody waits */
    MUSL_TAKEN = 16,          /* in the place of the tid, in musl's mutexes of the default type */
};

/* From the futex to the tid. */
enum {
    MUTEX_OWNER_AT =
        offsetof(pthread_mutex_t, __data.__owner) - offsetof(pthread_mutex_t, __data.__lock),
    MUTEX_KIND_AT =
        offsetof(pthread_mutex_t, __data.__kind) - offsetof(pthread_mutex_t, __data.__lock),
    RWLOCK_READER_TO_WRITER = offsetof(pthread_rwlock_t, __data.__cur_writer) -
                              offsetof(pthread_rwlock_t, __data.__wrphase_futex),
    RWLOCK_WRITER_TO_WRITER = offsetof(pthread_rwlock_t, __data.__cur_writer) -
                              offsetof(pthread_rwlock_t, __data.__writers_futex),
};

static int32_t if_it_lives(const struct futex_view *view, int32_t tid)
{
    return tid > 0 && view->lives(view->context, tid) ? tid : 0;
}

static int32_t word_at(const struct futex_view *view, uint64_t address)
{
    int32_t word;

    return view->read(view->context, address, &word, sizeof(word)) ? word : 0;
}

static int32_t mutex_owner(const struct futex_view *view, uint64_t futex)
{
    if (word_at(view, futex + MUTEX_KIND_AT) & ~(int32_t)MUTEX_KINDS)
        return 0;
    return if_it_lives(view, word_at(view, futex + MUTEX_OWNER_AT));
}

/* The lock begins at a multiple of eight: that tells its two futexes from each other. */
static int32_t rwlock_writer(const struct futex_view *view, uint64_t futex)
{
    uint64_t behind = futex % 8 ? RWLOCK_WRITER_TO_WRITER : RWLOCK_READER_TO_WRITER;

    return if_it_lives(view, word_at(view, futex + behind));
}

/* A thread that is joined: the kernel clears the word at its end, and so wakes as of a shared one. */
static int32_t joined(const struct futex_view *view, const struct blocked *blocked, uint32_t word)
{
    bool is_private = blocked->arguments[1] & FUTEX_PRIVATE_FLAG;

    return is_private ? 0 : if_it_lives(view, (int32_t)word);
}

/* The word of a robust mutex of glibc's may look so as well: there the owner stands in its place, too. */
static bool is_musl_default(const struct futex_view *view, uint64_t futex, uint32_t word)
{
    return (word & FUTEX_WAITERS) && (word & FUTEX_TID_MASK) == MUSL_TAKEN &&
           word_at(view, futex + MUTEX_OWNER_AT) != MUSL_TAKEN;
}

bool futex_keeps_no_holder(const struct futex_view *view, const struct blocked *blocked)
{
    uint32_t command = blocked->arguments[1] & FUTEX_CMD_MASK, word;

    return (command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET) &&
           view->read(view->context, blocked->arguments[0], &word, sizeof(word)) &&
           is_musl_default(view, blocked->arguments[0], word);
}

int32_t futex_holder(const struct futex_view *view, const struct blocked *blocked)
{
    uint64_t futex = blocked->arguments[0];
    uint32_t expected = (uint32_t)blocked->arguments[2], word;

    if (!view->read(view->context, futex, &word, sizeof(word)))
        return 0;
    switch (blocked->arguments[1] & FUTEX_CMD_MASK) {
    case FUTEX_LOCK_PI:
    case FUTEX_LOCK_PI2:
        return if_it_lives(view, word & FUTEX_TID_MASK);
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET:
        if (is_musl_default(view, futex, word))
            return 0;
        if (word & FUTEX_WAITERS)
            return if_it_lives(view, word & FUTEX_TID_MASK);
        if (expected == MUTEX_CONTENDED)
            return mutex_owner(view, futex);
        if (expected == RWLOCK_WRITTEN)
            return rwlock_writer(view, futex);
        return joined(view, blocked, word);
    default:
        return 0;
    }
}
