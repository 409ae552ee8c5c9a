/*
 * futex_holder.h - who has the lock that a thread waits for, where the words of the lock tell.
 *
 *   the futex' address and word, in the memory of a program or a core file -> futex_holder -> a tid
 *
 *   FUTEX_LOCK_PI, and robust mutexes: the word holds the owner's tid.
 *   glibc's other mutexes: the word is pthread_mutex_t.__lock, the owner stands two words behind it.
 *   glibc's rwlocks, held for writing: __cur_writer.
 *   pthread_join: the word is the tid of the thread that is waited for.
 *   musl's recursive, error-checking and robust mutexes: as robust ones. Its mutexes of the default type have 16 (EBUSY) there:
 *   nothing in the program says who holds them.
 *
 * What is read may be anything else: a tid counts only when the program has such a thread now.
 *
 * Threads    Any.
 * Source     futex(2), glibc's bits/struct_mutex.h and bits/struct_rwlock.h; what musl does at pthread_mutex_lock.
 */
#ifndef ISOSCOPE_FUTEX_HOLDER_H
#define ISOSCOPE_FUTEX_HOLDER_H

#include "../wall/blocked.h"

#include <stddef.h>

/* A program's memory and its threads, by its own numbers. */
struct futex_view {
    bool (*read)(const void *context, uint64_t address, void *out, size_t bytes); /* all of it */
    bool (*lives)(const void *context, int32_t tid);
    const void *context;
};

/* As the program numbers it; 0: not known. */
int32_t futex_holder(const struct futex_view *view, const struct blocked *blocked);

/* It waits for a mutex of musl's that has no place for its holder. */
bool futex_keeps_no_holder(const struct futex_view *view, const struct blocked *blocked);

#endif
