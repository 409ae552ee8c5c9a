#include "segment.h"

#include "../include/isoscope/isoscope.h"
#include "atomic_raise.h"
#include "sys.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/memfd.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

enum {
    PAGE_BYTES = 4096,
    NAME_INDEX_BYTES = FEED_NAME_INDEX_SLOTS * sizeof(uint32_t),
    NAME_PROBES_MAX = 64,
    PART_OF_SPACE = 16,
    FIRST_RINGS = 4,
    FIRST_BYTES = PART_STEP_BYTES, /* of modules, and of names */
    /* Made-up names must not take the room that the modules' paths need. */
    NAMES_FOR_PATHS = FEED_NAMES_BYTES / 4,
    MODULES_BYTES = FEED_MODULES_MAX * sizeof(struct feed_module),
};

#if defined(__x86_64__)
enum { MACHINE = EM_X86_64 };
#elif defined(__aarch64__)
enum { MACHINE = EM_AARCH64 };
#endif

static uint64_t step_up(uint64_t bytes)
{
    return (bytes + PART_STEP_BYTES - 1) & ~(uint64_t)(PART_STEP_BYTES - 1);
}

static const uint64_t name_index_offset = PAGE_BYTES;
static_assert(sizeof(struct feed_header) <= PAGE_BYTES, "the index of names stands behind it");

static struct feed_header header_for(uint32_t threads, int32_t pid, int64_t start_us)
{
    struct feed_header header = {
        .magic = FEED_MAGIC,
        .version = FEED_VERSION,
        .machine = MACHINE,
        .pid = pid,
        .thread_capacity = threads,
        .module_capacity = FEED_MODULES_MAX,
        .names_bytes = FEED_NAMES_BYTES,
        .ring_bytes = FEED_RING_BYTES,
        .start_us = start_us,
    };

    header.threads_offset = name_index_offset + NAME_INDEX_BYTES;
    header.modules_offset =
        step_up(header.threads_offset + threads * (uint64_t)sizeof(struct feed_thread));
    header.names_offset = header.modules_offset + MODULES_BYTES;
    header.rings_offset = header.names_offset + FEED_NAMES_BYTES;
    header.segment_bytes = header.rings_offset + threads * (uint64_t)FEED_RING_BYTES;
    /* Slot 0 and module 0 are never handed out. */
    header.status.threads_used = 1;
    header.status.modules_used = 1;
    header.status.names_used = 1; /* offset 0 is the empty name */
    return header;
}

static uint64_t limit_of(int resource)
{
    struct {
        uint64_t soft, hard;
    } limit = { UINT64_MAX, UINT64_MAX };

    sys_call4(SYS_prlimit64, 0, resource, NULL, &limit);
    return limit.soft;
}

/* Memory that grows beyond the limit of files ends the program like a file that does, and where
 * address space is limited it is the program's. */
static uint64_t bytes_max(void)
{
    uint64_t file = limit_of(RLIMIT_FSIZE), space = limit_of(RLIMIT_AS) / PART_OF_SPACE;

    return file < space ? file : space;
}

static int new_memfd(uint64_t bytes)
{
    int fd = (int)sys_call2(SYS_memfd_create, "isoscope-feed", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    if (fd >= 0 && (sys_call2(SYS_ftruncate, fd, bytes) < 0 ||
                    sys_call3(SYS_fcntl, fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) < 0)) {
        sys_call1(SYS_close, fd);
        return -1;
    }
    return fd;
}

SIGNAL_SAFE_INLINE uint64_t ring_offset(uint32_t slot)
{
    return slot * (uint64_t)FEED_RING_BYTES;
}

/* All that is mapped from the start, in one piece of addresses. */
static bool map_start(struct segment *segment, const struct feed_header *header, int memfd)
{
    const uint64_t before = header->modules_offset;
    const uint64_t bytes = before + 2 * FIRST_BYTES + FIRST_RINGS * FEED_RING_BYTES;
    long map = sys_call6(SYS_mmap, 0, (long)bytes, PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_NORESERVE, memfd, 0);
    uint8_t *base = (uint8_t *)map, *modules = base + before;

    if (map < 0 && map > -PAGE_BYTES)
        return false;
    *segment = (struct segment){
        .header = (struct feed_header *)base,
        .threads = (struct feed_thread *)(base + header->threads_offset),
        .name_index = (_Atomic uint32_t *)(base + name_index_offset),
        .modules = { .bytes = MODULES_BYTES, .first_bytes = FIRST_BYTES },
        .names = { .bytes = FEED_NAMES_BYTES, .first_bytes = FIRST_BYTES },
        .rings = { .bytes = ring_offset(header->thread_capacity),
                   .first_bytes = FIRST_RINGS * FEED_RING_BYTES },
        .start_bytes = bytes,
    };
    if (part_begin(&segment->modules, modules, memfd, before) &&
        part_begin(&segment->names, modules + FIRST_BYTES, memfd, header->names_offset) &&
        part_begin(&segment->rings, modules + 2 * FIRST_BYTES, memfd, header->rings_offset))
        return true;
    segment_destroy(segment);
    return false;
}

static int create(struct segment *out, uint32_t threads, int32_t pid, int64_t start_us)
{
    struct feed_header header = header_for(threads, pid, start_us);
    int memfd = header.segment_bytes <= bytes_max() ? new_memfd(header.segment_bytes) : -1;

    if (memfd < 0)
        return -1;
    if (!map_start(out, &header, memfd)) {
        sys_call1(SYS_close, memfd);
        return -1;
    }
    memcpy(out->header, &header, sizeof header);
    /* A forked child makes its own; a child that never runs our code must not keep this one. */
    sys_call3(SYS_madvise, out->header, out->start_bytes, MADV_DONTFORK);
    /* A core would have all of it, pages that the kernel makes to write them. */
    sys_call3(SYS_madvise, out->header, out->start_bytes, MADV_DONTDUMP);
    return memfd;
}

int segment_create(struct segment *out, int *memfd, int32_t pid, int64_t start_us)
{
    for (uint32_t threads = FEED_THREADS_MAX; threads >= FEED_THREADS_MIN; threads /= 2) {
        int fd = create(out, threads, pid, start_us);

        if (fd < 0)
            continue;
        *memfd = fd;
        return 0;
    }
    return -ISOSCOPE_SYSTEM;
}

void segment_destroy(struct segment *segment)
{
    if (segment->header) {
        part_end(&segment->modules);
        part_end(&segment->names);
        part_end(&segment->rings);
        sys_call2(SYS_munmap, segment->header, segment->start_bytes);
    }
    memset(segment, 0, sizeof *segment);
}

SIGNAL_SAFE_INLINE bool claim(struct feed_thread *thread)
{
    uint32_t free_state = FEED_THREAD_FREE;

    return atomic_compare_exchange_strong_explicit(&thread->state, &free_state, FEED_THREAD_CLAIMED,
                                                   memory_order_acquire, memory_order_relaxed);
}

/* A reader that sees a word of the new name sees name_seq odd, or moved on. */
SIGNAL_SAFE_INLINE void store_name(struct feed_thread *thread, const uint64_t words[2])
{
    atomic_fetch_add_explicit(&thread->name_seq, 1, memory_order_relaxed);
    atomic_store_explicit(&thread->name[0], words[0], memory_order_release);
    atomic_store_explicit(&thread->name[1], words[1], memory_order_release);
    atomic_fetch_add_explicit(&thread->name_seq, 1, memory_order_release);
}

uint32_t segment_thread_claim(struct segment *segment, int32_t tid, int64_t start_us)
{
    for (uint32_t slot = 1; ring_offset(slot) < segment->rings.bytes; slot++) {
        struct feed_thread *thread = &segment->threads[slot];

        if (!claim(thread))
            continue;
        if (!part_reach(&segment->rings, ring_offset(slot))) {
            segment_thread_unclaim(segment, slot);
            return 0;
        }
        atomic_fetch_add_explicit(&thread->generation, 1, memory_order_relaxed);
        atomic_store_explicit(&thread->tid, tid, memory_order_relaxed);
        store_name(thread, (const uint64_t[2]){ 0, 0 });
        thread->start_us = start_us;
        atomic_raise(&segment->header->status.threads_used, slot + 1);
        return slot;
    }
    return 0;
}

void segment_thread_unclaim(struct segment *segment, uint32_t slot)
{
    atomic_store_explicit(&segment->threads[slot].state, FEED_THREAD_FREE, memory_order_release);
}

void segment_thread_publish(struct segment *segment, uint32_t slot)
{
    atomic_store_explicit(&segment->threads[slot].state, FEED_THREAD_LIVE, memory_order_release);
}

void segment_thread_end(struct segment *segment, uint32_t slot)
{
    atomic_store_explicit(&segment->threads[slot].state, FEED_THREAD_ENDED, memory_order_release);
}

void segment_thread_name(struct segment *segment, uint32_t slot, const char name[16])
{
    struct feed_thread *thread = &segment->threads[slot];
    uint64_t words[2];

    memcpy(words, name, sizeof words);
    ((char *)words)[sizeof words - 1] = 0;
    if (words[0] != atomic_load_explicit(&thread->name[0], memory_order_relaxed) ||
        words[1] != atomic_load_explicit(&thread->name[1], memory_order_relaxed))
        store_name(thread, words);
}

void segment_ring(const struct segment *segment, uint32_t slot, struct ring_writer *out)
{
    out->thread = &segment->threads[slot];
    out->bytes = part_at(&segment->rings, ring_offset(slot));
    out->size_bytes = FEED_RING_BYTES;
    out->reserved_at = 0;
}

/* Where a name of that length may begin, from a place on: it lies in one window. */
SIGNAL_SAFE_INLINE uint64_t name_begin(const struct part *names, uint64_t place, size_t length)
{
    uint64_t end = part_window_end(names, place);

    return place + length < end ? place : end;
}

/* Any thread, and the tick handler, may add at the same time: each takes its own bytes first. */
SIGNAL_SAFE_INLINE uint32_t name_add(struct segment *segment, const char *name, size_t length,
                                     uint64_t room)
{
    struct feed_status *status = &segment->header->status;
    uint32_t used = atomic_load_explicit(&status->names_used, memory_order_relaxed);
    uint64_t place;
    uint8_t *at;

    do {
        if (used >= room || (place = name_begin(&segment->names, used, length)) >= room ||
            length >= room - place || !part_reach(&segment->names, place))
            return 0;
    } while (!atomic_compare_exchange_weak_explicit(&status->names_used, &used,
                                                    (uint32_t)(place + length + 1),
                                                    memory_order_relaxed, memory_order_relaxed));
    at = part_at(&segment->names, place);
    memcpy(at, name, length);
    at[length] = 0;
    return (uint32_t)place;
}

/* FNV-1a. */
SIGNAL_SAFE_INLINE uint32_t name_hash(const char *name, size_t length)
{
    uint32_t hash = 0x811c9dc5;

    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (uint8_t)name[i]) * 0x01000193;
    return hash ^ hash >> 15;
}

/* The service could have written here: a place must lie in names whatever it did. */
SIGNAL_SAFE_INLINE bool same_name(const struct segment *segment, uint32_t place, const char *name,
                                  size_t length)
{
    const struct part *names = &segment->names;
    const uint8_t *at = place < names->bytes ? part_at(names, place) : NULL;

    return at && name_begin(names, place, length) == place && memcmp(at, name, length) == 0 &&
           !at[length];
}

/* 0: no room, in the bytes or in the index. */
SIGNAL_SAFE_INLINE uint32_t name_place(struct segment *segment, const char *name, size_t length)
{
    uint32_t slot = name_hash(name, length), added = 0;

    for (int probe = 0; probe < NAME_PROBES_MAX; probe++) {
        _Atomic uint32_t *entry = &segment->name_index[slot++ % FEED_NAME_INDEX_SLOTS];
        uint32_t place = atomic_load_explicit(entry, memory_order_acquire);

        if (!place) {
            if (!added)
                added = name_add(segment, name, length, segment->names.bytes - NAMES_FOR_PATHS);
            if (!added || atomic_compare_exchange_strong_explicit(
                              entry, &place, added, memory_order_acq_rel, memory_order_acquire))
                return added;
        }
        if (same_name(segment, place, name, length))
            return place;
    }
    return added;
}

uint32_t segment_name(struct segment *segment, const char *name)
{
    size_t length = 0;
    uint32_t place;

    while (length < FEED_NAME_MAX && name[length])
        length++;
    if (!length)
        return 0;
    place = name_place(segment, name, length);
    if (!place)
        atomic_fetch_add_explicit(&segment->header->status.names_full, 1, memory_order_relaxed);
    return place;
}

struct feed_module *segment_module(const struct segment *segment, uint32_t number)
{
    const struct feed_status *status = &segment->header->status;

    return number < atomic_load_explicit(&status->modules_used, memory_order_acquire)
               ? (struct feed_module *)part_at(&segment->modules,
                                               number * (uint64_t)sizeof(struct feed_module))
               : NULL;
}

uint32_t segment_module_add(struct segment *segment, const struct feed_module *module,
                            const char *path)
{
    struct feed_status *status = &segment->header->status;
    uint32_t number = atomic_load_explicit(&status->modules_used, memory_order_relaxed);
    uint64_t place = number * (uint64_t)sizeof *module;
    struct feed_module *added;
    uint32_t path_offset;

    if (place >= segment->modules.bytes || !part_reach(&segment->modules, place) ||
        !(path_offset = name_add(segment, path, strlen(path), segment->names.bytes))) {
        atomic_fetch_add_explicit(&status->lost[FEED_LOSS_MODULES_FULL], 1, memory_order_relaxed);
        return 0;
    }
    added = (struct feed_module *)part_at(&segment->modules, place);
    *added = *module;
    added->path_offset = path_offset;
    atomic_store_explicit(&status->modules_used, number + 1, memory_order_release);
    return number;
}
