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
    /* Made-up names must not take the room that the modules' paths need. */
    NAMES_FOR_PATHS = FEED_NAMES_BYTES / 4,
};

#if defined(__x86_64__)
enum { MACHINE = EM_X86_64 };
#elif defined(__aarch64__)
enum { MACHINE = EM_AARCH64 };
#endif

static uint64_t page_up(uint64_t bytes)
{
    return (bytes + PAGE_BYTES - 1) & ~(uint64_t)(PAGE_BYTES - 1);
}

static uint64_t name_index_offset(const struct feed_header *header)
{
    return page_up(header->names_offset + header->names_bytes);
}

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

    header.threads_offset = page_up(sizeof header);
    header.modules_offset =
        page_up(header.threads_offset + threads * (uint64_t)sizeof(struct feed_thread));
    header.names_offset =
        page_up(header.modules_offset + FEED_MODULES_MAX * sizeof(struct feed_module));
    header.rings_offset = page_up(name_index_offset(&header) + NAME_INDEX_BYTES);
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

static void *map_new_memfd(uint64_t bytes, int *memfd)
{
    long fd = sys_call2(SYS_memfd_create, "isoscope-feed", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    long map;

    if (fd < 0)
        return NULL;
    if (sys_call2(SYS_ftruncate, fd, bytes) < 0 ||
        sys_call3(SYS_fcntl, fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) < 0)
        goto refused;
    map = sys_call6(SYS_mmap, 0, (long)bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
                    fd, 0);
    if (map < 0 && map > -PAGE_BYTES)
        goto refused;
    *memfd = (int)fd;
    return (void *)map;
refused:
    sys_call1(SYS_close, fd);
    return NULL;
}

static void find_parts(struct segment *segment)
{
    uint8_t *base = (uint8_t *)segment->header;

    segment->threads = (struct feed_thread *)(base + segment->header->threads_offset);
    segment->modules = (struct feed_module *)(base + segment->header->modules_offset);
    segment->names = (char *)(base + segment->header->names_offset);
    segment->name_index = (_Atomic uint32_t *)(base + name_index_offset(segment->header));
    segment->rings = base + segment->header->rings_offset;
}

int segment_create(struct segment *out, int *memfd, int32_t pid, int64_t start_us)
{
    uint64_t most = bytes_max();

    for (uint32_t threads = FEED_THREADS_MAX; threads >= FEED_THREADS_MIN; threads /= 2) {
        struct feed_header header = header_for(threads, pid, start_us);
        void *map =
            header.segment_bytes <= most ? map_new_memfd(header.segment_bytes, memfd) : NULL;

        if (!map)
            continue;
        memcpy(map, &header, sizeof header);
        out->header = map;
        find_parts(out);
        /* A forked child makes its own; a child that never runs our code must not keep this one. */
        sys_call3(SYS_madvise, map, header.segment_bytes, MADV_DONTFORK);
        /* A core would have a gigabyte of it, pages that the kernel makes to write them. */
        sys_call3(SYS_madvise, map, header.segment_bytes, MADV_DONTDUMP);
        return 0;
    }
    return -ISOSCOPE_SYSTEM;
}

void segment_destroy(struct segment *segment)
{
    if (segment->header)
        sys_call2(SYS_munmap, segment->header, segment->header->segment_bytes);
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
    for (uint32_t slot = 1; slot < segment->header->thread_capacity; slot++) {
        struct feed_thread *thread = &segment->threads[slot];

        if (!claim(thread))
            continue;
        atomic_fetch_add_explicit(&thread->generation, 1, memory_order_relaxed);
        atomic_store_explicit(&thread->tid, tid, memory_order_relaxed);
        store_name(thread, (const uint64_t[2]){ 0, 0 });
        thread->start_us = start_us;
        atomic_raise(&segment->header->status.threads_used, slot + 1);
        return slot;
    }
    return 0;
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
    out->bytes = segment->rings + (uint64_t)slot * FEED_RING_BYTES;
    out->size_bytes = FEED_RING_BYTES;
    out->reserved_at = 0;
}

/* Any thread, and the tick handler, may add at the same time: each takes its own bytes first. */
SIGNAL_SAFE_INLINE uint32_t name_add(const struct segment *segment, const char *name, size_t length,
                                     uint32_t room)
{
    struct feed_status *status = &segment->header->status;
    uint32_t used = atomic_load_explicit(&status->names_used, memory_order_relaxed);

    do
        if (used > room || length >= room - used)
            return 0;
    while (!atomic_compare_exchange_weak_explicit(&status->names_used, &used,
                                                  used + (uint32_t)length + 1, memory_order_relaxed,
                                                  memory_order_relaxed));
    memcpy(segment->names + used, name, length);
    segment->names[used + length] = 0;
    return used;
}

/* FNV-1a. */
SIGNAL_SAFE_INLINE uint32_t name_hash(const char *name, size_t length)
{
    uint32_t hash = 0x811c9dc5;

    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (uint8_t)name[i]) * 0x01000193;
    return hash ^ hash >> 15;
}

SIGNAL_SAFE_INLINE bool same_name(const struct segment *segment, uint32_t place, const char *name,
                                  size_t length)
{
    /* The service could have written here: a place must lie in names whatever it did. */
    return place < segment->header->names_bytes - FEED_NAME_MAX - 1 &&
           memcmp(segment->names + place, name, length) == 0 && !segment->names[place + length];
}

/* 0: no room, in the bytes or in the index. */
SIGNAL_SAFE_INLINE uint32_t name_place(const struct segment *segment, const char *name,
                                       size_t length)
{
    uint32_t slot = name_hash(name, length), added = 0;

    for (int probe = 0; probe < NAME_PROBES_MAX; probe++) {
        _Atomic uint32_t *entry = &segment->name_index[slot++ % FEED_NAME_INDEX_SLOTS];
        uint32_t place = atomic_load_explicit(entry, memory_order_acquire);

        if (!place) {
            if (!added)
                added =
                    name_add(segment, name, length, segment->header->names_bytes - NAMES_FOR_PATHS);
            if (!added || atomic_compare_exchange_strong_explicit(
                              entry, &place, added, memory_order_acq_rel, memory_order_acquire))
                return added;
        }
        if (same_name(segment, place, name, length))
            return place;
    }
    return added;
}

uint32_t segment_name(const struct segment *segment, const char *name)
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

uint32_t segment_module_add(struct segment *segment, const struct feed_module *module,
                            const char *path)
{
    struct feed_status *status = &segment->header->status;
    uint32_t number = atomic_load_explicit(&status->modules_used, memory_order_relaxed);
    uint32_t path_offset;

    if (number >= segment->header->module_capacity ||
        !(path_offset = name_add(segment, path, strlen(path), segment->header->names_bytes))) {
        atomic_fetch_add_explicit(&status->lost[FEED_LOSS_MODULES_FULL], 1, memory_order_relaxed);
        return 0;
    }
    segment->modules[number] = *module;
    segment->modules[number].path_offset = path_offset;
    atomic_store_explicit(&status->modules_used, number + 1, memory_order_release);
    return number;
}
