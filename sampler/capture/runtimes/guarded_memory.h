/*
 * guarded_memory.h - memory of a runtime, read where nothing promises that it is there.
 *
 *   a walker -> guarded_word, guarded_read -> memory, or "no"
 *
 * Of one's own process each page is probed once, and then read as it is: any thread may take it away
 * since, which read_guard.h survives; then it is probed anew. Where faults are not handled the kernel
 * copies, which takes twenty times as long. Of another process it is copied by pages.
 * What is read may be wrong in any way: a walker believes nothing that it has not checked, and ends.
 *
 * Signals    SIGNAL_SAFE. Nothing faults.
 * Errors     False: not all of it is mapped, or the address is below 4,096.
 */
#ifndef ISOSCOPE_GUARDED_MEMORY_H
#define ISOSCOPE_GUARDED_MEMORY_H

#include "../../feed/signal_safe.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    GUARDED_PAGES = 1024,
    GUARDED_PAGE_BYTES = 4096, /* of a probe, whatever the kernel's are */
    GUARDED_ADDRESS_MIN = 4096,
    GUARDED_COPIES = 64,
};

/* How memory is read. */
enum guarded_way {
    GUARDED_BY_FAULT,  /* one's own; our handler of SIGSEGV and SIGBUS is in force */
    GUARDED_BY_KERNEL, /* one's own */
    GUARDED_BY_COPIES, /* another process's */
};

/* One's own pages that were found readable, by hash: their numbers. Of all threads. All zeros at first. */
struct guarded_pages {
    _Atomic uint64_t page[GUARDED_PAGES];
};

/* For one sample. All but way, pid and copies is guarded_memory.c's. */
struct guarded_memory {
    enum guarded_way way;
    int32_t pid;                 /* 0: one's own */
    struct guarded_pages *pages; /* one's own, where faults are handled */
    /* Of another process: pages and what is in them. NULL: one's own. Memory of the caller. */
    struct guarded_copies *copies;
    bool open;          /* faults are let through */
    bool has_alternate; /* the thread has a stack for signals: */
    stack_t alternate;
    uint64_t blocked; /* signals that were blocked before */
};

struct guarded_copies {
    uint64_t page[GUARDED_COPIES]; /* 0: none */
    uint8_t bytes[GUARDED_COPIES][GUARDED_PAGE_BYTES];
};

/* One's own. pages: what faults are handled for; NULL: they are not. has_alternate: the thread has a stack for
 * signals, and this does not run on it. */
SIGNAL_SAFE void guarded_memory_begin(struct guarded_memory *memory, struct guarded_pages *pages,
                                      bool has_alternate);
/* Another process's. */
SIGNAL_SAFE void guarded_memory_begin_other(struct guarded_memory *memory, int32_t pid,
                                            struct guarded_copies *copies);
/* The thread's signals are as they were. */
SIGNAL_SAFE void guarded_memory_end(struct guarded_memory *memory);

SIGNAL_SAFE bool guarded_read(struct guarded_memory *memory, void *out, uint64_t address,
                              size_t bytes);

SIGNAL_SAFE_INLINE bool guarded_word(struct guarded_memory *memory, uint64_t address, uint64_t *out)
{
    return guarded_read(memory, out, address, sizeof *out);
}

#endif
