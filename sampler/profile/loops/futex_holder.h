/*
 * futex_holder.h - who has the lock that a thread waits for, where the words of the lock tell.
 *
 *   the futex' address and word, in the program's memory -> futex_holder -> a tid
 *
 *   FUTEX_LOCK_PI, and robust mutexes: the word holds the owner's tid.
 *   glibc's other mutexes: the word is pthread_mutex_t.__lock, the owner stands two words behind it.
 *   glibc's rwlocks, held for writing: __cur_writer.
 *   pthread_join: the word is the tid of the thread that is waited for.
 *
 * What is read may be anything else: a tid counts only when the program has such a thread now.
 *
 * Threads    Any.
 * Source     futex(2), glibc's bits/struct_mutex.h and bits/struct_rwlock.h.
 */
#ifndef ISOSCOPE_FUTEX_HOLDER_H
#define ISOSCOPE_FUTEX_HOLDER_H

#include "../wall/blocked.h"

/* Whom the numbers belong to. */
struct late_program {
    int32_t pid; /* here */
    bool
        numbers_here; /* its tids and pids are the same here; false: it has a namespace of its own */
};

/* The thread by its number here; 0: there is none. */
int32_t late_tid_here(const struct late_program *program, int32_t tid);

/* As the program numbers it; 0: not known. */
int32_t futex_holder(const struct late_program *program, const struct blocked *blocked);

#endif
