#include "guarded_memory.h"

#include "read_guard.h"

#include "../../feed/sys.h"
#include "../system/memory.h"

#include <string.h>

enum {
    PAGE_SHIFT = 12,
    KERNEL_SIGSET_BYTES = 8,
    HOW_NONE = -1, /* no way to change a mask: rt_sigprocmask reads the set, and then says no */
};

void guarded_memory_begin(struct guarded_memory *memory, struct guarded_pages *pages,
                          bool has_alternate)
{
    memory->way = pages ? GUARDED_BY_FAULT : GUARDED_BY_KERNEL;
    memory->pages = pages;
    memory->pid = 0;
    memory->copies = NULL;
    memory->open = false;
    memory->has_alternate = has_alternate;
}

void guarded_memory_begin_other(struct guarded_memory *memory, int32_t pid,
                                struct guarded_copies *copies)
{
    memset(copies->page, 0, sizeof copies->page);
    memory->way = GUARDED_BY_COPIES;
    memory->pid = pid;
    memory->copies = copies;
    memory->open = false;
}

/* Ticks block all signals. A fault's frame belongs onto the stack that we are on: the kernel would
 * put it at the top of the thread's alternate one, where the tick's own may stand. */
static SIGNAL_SAFE void open_for_faults(struct guarded_memory *memory)
{
    const uint64_t faults = UINT64_C(1) << (SIGSEGV - 1) | UINT64_C(1) << (SIGBUS - 1);
    const stack_t none = { .ss_flags = SS_DISABLE };

    memory->open = true;
    if (memory->has_alternate)
        sys_call2(SYS_sigaltstack, &none, &memory->alternate);
    sys_call4(SYS_rt_sigprocmask, SIG_UNBLOCK, &faults, &memory->blocked, KERNEL_SIGSET_BYTES);
}

void guarded_memory_end(struct guarded_memory *memory)
{
    if (!memory->open)
        return;
    memory->open = false;
    sys_call4(SYS_rt_sigprocmask, SIG_SETMASK, &memory->blocked, NULL, KERNEL_SIGSET_BYTES);
    if (memory->has_alternate)
        sys_call2(SYS_sigaltstack, &memory->alternate, NULL);
}

SIGNAL_SAFE_INLINE _Atomic uint64_t *place_of(const struct guarded_memory *memory, uint64_t page)
{
    return &memory->pages->page[page % GUARDED_PAGES];
}

/* By the cheapest of system calls that read: it changes nothing. */
static SIGNAL_SAFE bool probe(const struct guarded_memory *memory, uint64_t page)
{
    long answer =
        sys_call4(SYS_rt_sigprocmask, HOW_NONE, page << PAGE_SHIFT, NULL, KERNEL_SIGSET_BYTES);

    if (answer != -EINVAL)
        return false;
    atomic_store_explicit(place_of(memory, page), page, memory_order_relaxed);
    return true;
}

static SIGNAL_SAFE void forget(const struct guarded_memory *memory, uint64_t first, uint64_t last)
{
    for (uint64_t page = first; page <= last; page++)
        atomic_store_explicit(place_of(memory, page), 0, memory_order_relaxed);
}

SIGNAL_SAFE_INLINE bool read_own(struct guarded_memory *memory, void *out, uint64_t address,
                                 size_t bytes)
{
    const uint64_t first = address >> PAGE_SHIFT, last = (address + bytes - 1) >> PAGE_SHIFT;

    for (uint64_t page = first; page <= last; page++)
        if (atomic_load_explicit(place_of(memory, page), memory_order_relaxed) != page &&
            !probe(memory, page))
            return false;
    if (!memory->open)
        open_for_faults(memory);
    if (read_guard_copy(out, address, bytes))
        return true;
    forget(memory, first, last);
    return false;
}

static SIGNAL_SAFE const uint8_t *copy_of(struct guarded_memory *memory, uint64_t page)
{
    struct guarded_copies *copies = memory->copies;
    const uint64_t place = page % GUARDED_COPIES;

    if (copies->page[place] == page)
        return copies->bytes[place];
    copies->page[place] = 0;
    if (!memory_read(memory->pid, copies->bytes[place], page << PAGE_SHIFT, GUARDED_PAGE_BYTES))
        return NULL;
    copies->page[place] = page;
    return copies->bytes[place];
}

SIGNAL_SAFE_INLINE bool read_copies(struct guarded_memory *memory, uint8_t *out, uint64_t address,
                                    size_t bytes)
{
    while (bytes) {
        const uint8_t *page = copy_of(memory, address >> PAGE_SHIFT);
        uint64_t from = address % GUARDED_PAGE_BYTES, part = GUARDED_PAGE_BYTES - from;

        if (!page)
            return false;
        if (part > bytes)
            part = bytes;
        memcpy(out, page + from, part);
        out += part;
        address += part;
        bytes -= part;
    }
    return true;
}

bool guarded_read(struct guarded_memory *memory, void *out, uint64_t address, size_t bytes)
{
    if (!bytes)
        return true;
    if (address < GUARDED_ADDRESS_MIN || bytes > UINT64_MAX - address)
        return false;
    if (memory->way == GUARDED_BY_FAULT)
        return read_own(memory, out, address, bytes);
    if (memory->way == GUARDED_BY_COPIES)
        return read_copies(memory, out, address, bytes);
    return memory_copy(0, out, address, bytes) == (long)bytes;
}
