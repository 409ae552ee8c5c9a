#include "feed_writer.h"

#include "../include/isoscope/isoscope.h"
#include "atomic_raise.h"
#include "feed_count.h"
#include "own_area.h"
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
    ERRNO_MAX = 4095,
    NAME_INDEX_BYTES = FEED_NAME_INDEX_SLOTS * sizeof(uint32_t),
    NAME_PROBES_MAX = 64,
    PART_OF_SPACE = 16,
    FIRST_RINGS = 2,
    THREADS_OFFSET = 1280, /* the first threads stand in the header's page */
    /* Made-up names must not take the room that the modules' paths need. */
    NAMES_FOR_PATHS = FEED_NAMES_BYTES / 4,
    CODES_PART_OF_ROOM = 4, /* of the feed's, where that is limited */
    RUNTIMES_BYTES = FEED_RUNTIMES_MAX * sizeof(struct feed_runtime),
    LOOPS_BYTES = FEED_LOOPS_MAX * sizeof(struct feed_loop),
    MODULES_BYTES = FEED_MODULES_MAX * sizeof(struct feed_module),
};

#if defined(__x86_64__)
enum { MACHINE = EM_X86_64 };
#elif defined(__aarch64__)
enum { MACHINE = EM_AARCH64 };
#endif

static SIGNAL_SAFE uint64_t step_up(uint64_t bytes)
{
    return (bytes + PART_STEP_BYTES - 1) & ~(uint64_t)(PART_STEP_BYTES - 1);
}

static_assert(sizeof(struct feed_header) <= THREADS_OFFSET, "the threads stand behind it");

static SIGNAL_SAFE uint64_t name_index_offset(const struct feed_header *header)
{
    return header->names_offset - NAME_INDEX_BYTES;
}

static SIGNAL_SAFE struct feed_header header_for(uint32_t threads, uint32_t event_rings,
                                                 uint32_t codes_bytes, int32_t pid,
                                                 int64_t start_us)
{
    struct feed_header header = {
        .head = { .magic = FEED_MAGIC,
                  .version = FEED_VERSION,
                  .machine = MACHINE,
                  .pid = pid,
                  .start_us = start_us },
        .thread_capacity = threads,
        .loop_capacity = FEED_LOOPS_MAX,
        .codes_bytes = codes_bytes,
        .module_capacity = FEED_MODULES_MAX,
        .names_bytes = FEED_NAMES_BYTES,
        .ring_bytes = FEED_RING_BYTES,
        .event_ring_capacity = event_rings,
        .event_ring_bytes = FEED_EVENT_RING_BYTES,
    };

    header.threads_offset = THREADS_OFFSET;
    header.loops_offset =
        step_up(header.threads_offset + threads * (uint64_t)sizeof(struct feed_thread));
    header.runtimes_offset = header.loops_offset + LOOPS_BYTES;
    header.modules_offset = step_up(header.runtimes_offset + RUNTIMES_BYTES);
    header.names_offset = header.modules_offset + MODULES_BYTES + NAME_INDEX_BYTES;
    header.rings_offset = header.names_offset + FEED_NAMES_BYTES;
    header.event_rings_offset = header.rings_offset + threads * (uint64_t)FEED_RING_BYTES;
    header.code_index_offset =
        header.event_rings_offset + event_rings * (uint64_t)FEED_EVENT_RING_BYTES;
    header.codes_offset = header.code_index_offset + (codes_bytes ? FEED_CODE_INDEX_BYTES : 0);
    header.feed_bytes = header.codes_offset + codes_bytes;
    /* Slot 0, loop 0 and module 0 are never handed out. */
    header.status.threads_used = 1;
    header.status.modules_used = 1;
    header.status.loops_used = 1;
    header.status.event_rings_used = 1;         /* where allocations are */
    header.status.names_used = 1;               /* offset 0 is the empty name */
    header.status.codes_used = FEED_CODE_ALIGN; /* id 0 is no code */
    header.control.wants = FEED_WANT_RUNTIMES;
    header.status.streams_used = FEED_STREAM_COUNT;
    header.control.streams = ~UINT64_C(0);
    return header;
}

static SIGNAL_SAFE uint64_t limit_of(int resource)
{
    struct {
        uint64_t soft, hard;
    } limit = { UINT64_MAX, UINT64_MAX };

    sys_call4(SYS_prlimit64, 0, resource, NULL, &limit);
    return limit.soft;
}

/* Memory that grows beyond the limit of files ends the program like a file that does, and where
 * address space is limited it is the program's. */
static SIGNAL_SAFE uint64_t bytes_max(void)
{
    uint64_t file = limit_of(RLIMIT_FSIZE), space = limit_of(RLIMIT_AS) / PART_OF_SPACE;

    return file < space ? file : space;
}

static SIGNAL_SAFE int new_memfd(uint64_t bytes)
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

static SIGNAL_SAFE struct feed_writer view_of(const struct feed_header *header, uint8_t *base)
{
    return (struct feed_writer){
        .header = (struct feed_header *)base,
        .threads = (struct feed_thread *)(base + header->threads_offset),
        .loops = (struct feed_loop *)(base + header->loops_offset),
        .modules = (struct feed_module *)(base + header->modules_offset),
        .name_index = (_Atomic uint32_t *)(base + name_index_offset(header)),
        .names = (char *)(base + header->names_offset),
        .runtimes = (struct feed_runtime *)(base + header->runtimes_offset),
        .rings = { .bytes = ring_offset(header->thread_capacity),
                   .first_bytes = FIRST_RINGS * FEED_RING_BYTES },
        .event_rings = { .bytes = header->event_ring_capacity * (uint64_t)FEED_EVENT_RING_BYTES,
                         .first_bytes = FEED_EVENT_RING_BYTES },
        .codes = { .bytes = header->feed_bytes - header->code_index_offset,
                   .first_bytes = FEED_CODES_FIRST_BYTES },
    };
}

/* From there a part is mapped later, when the descriptor is gone. The step is the last of the rings
 * that stand before it, and nobody uses it here. */
static SIGNAL_SAFE void map_step_before(struct part *part, uint64_t part_offset, int memfd,
                                        uint8_t *at)
{
    long map = sys_call6(SYS_mmap, (long)at, PART_STEP_BYTES, PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_NORESERVE | MAP_FIXED, memfd,
                         (long)(part_offset - PART_STEP_BYTES));

    if (map < 0 && map >= -ERRNO_MAX)
        part->bytes = 0;
    part_begin_behind(part, at);
}

/* All but the rings of threads to come, in one piece. */
static SIGNAL_SAFE bool map_start(struct feed_writer *writer, const struct feed_header *header,
                                  int memfd)
{
    const uint64_t bytes = header->rings_offset + FIRST_RINGS * FEED_RING_BYTES;
    const uint64_t with_steps = bytes + 2 * PART_STEP_BYTES;
    long map = sys_call6(SYS_mmap, own_area_next(with_steps), (long)with_steps,
                         PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, memfd, 0);

    if (map < 0 && map >= -ERRNO_MAX)
        return false;
    *writer = view_of(header, (uint8_t *)map);
    writer->start_bytes = with_steps;
    part_begin(&writer->rings, (uint8_t *)map + header->rings_offset);
    map_step_before(&writer->event_rings, header->event_rings_offset, memfd,
                    (uint8_t *)map + bytes);
    map_step_before(&writer->codes, header->code_index_offset, memfd,
                    (uint8_t *)map + bytes + PART_STEP_BYTES);
    return true;
}

bool feed_writer_over(struct feed_writer *out, void *base, const struct feed_header *layout)
{
    struct feed_header usual =
        header_for(layout->thread_capacity, layout->event_ring_capacity, layout->codes_bytes, 0, 0);

    if (layout->threads_offset != usual.threads_offset ||
        layout->loops_offset != usual.loops_offset ||
        layout->runtimes_offset != usual.runtimes_offset ||
        layout->modules_offset != usual.modules_offset ||
        layout->code_index_offset != usual.code_index_offset ||
        layout->codes_offset != usual.codes_offset || layout->names_offset != usual.names_offset ||
        layout->rings_offset != usual.rings_offset ||
        layout->event_rings_offset != usual.event_rings_offset)
        return false;
    *out = view_of(layout, base);
    part_over(&out->rings, (uint8_t *)base + layout->rings_offset);
    part_over(&out->event_rings, (uint8_t *)base + layout->event_rings_offset);
    part_over(&out->codes, (uint8_t *)base + layout->code_index_offset);
    return true;
}

/* As many as there is room for behind the samples', which come first. */
static SIGNAL_SAFE uint32_t event_rings_for(uint32_t threads, uint64_t room, uint64_t taken)
{
    uint64_t rings = room > taken ? (room - taken) / FEED_EVENT_RING_BYTES : 0;

    if (rings > FEED_EVENT_RINGS_MAX)
        rings = FEED_EVENT_RINGS_MAX;
    return rings <= threads ? (uint32_t)rings : threads + 1;
}

static SIGNAL_SAFE int create_segment(struct feed_writer *out, uint32_t threads, int32_t pid,
                                      int64_t start_us)
{
    uint64_t room = bytes_max();
    uint32_t codes = room / CODES_PART_OF_ROOM >= FEED_CODES_BYTES ? FEED_CODES_BYTES : 0;
    uint64_t bare = header_for(threads, 0, codes, pid, start_us).feed_bytes;
    struct feed_header header =
        header_for(threads, event_rings_for(threads, room, bare), codes, pid, start_us);
    int memfd = bare <= room ? new_memfd(header.feed_bytes) : -1;

    if (memfd < 0)
        return -1;
    if (!map_start(out, &header, memfd)) {
        sys_call1(SYS_close, memfd);
        return -1;
    }
    header.head.mapped_at = (uint64_t)out->header;
    memcpy(out->header, &header, sizeof header);
    /* A forked child makes its own; a child that never runs our code must not keep this one. */
    sys_call3(SYS_madvise, out->header, out->start_bytes, MADV_DONTFORK);
    /* A core would have all of it, pages that the kernel makes to write them. */
    sys_call3(SYS_madvise, out->header, out->start_bytes, MADV_DONTDUMP);
    return memfd;
}

int feed_writer_create(struct feed_writer *out, int *memfd, int32_t pid, int64_t start_us)
{
    for (uint32_t threads = FEED_THREADS_MAX; threads >= FEED_THREADS_MIN; threads /= 2) {
        int fd = create_segment(out, threads, pid, start_us);

        if (fd < 0)
            continue;
        *memfd = fd;
        return 0;
    }
    return -ISOSCOPE_SYSTEM;
}

void feed_writer_destroy(struct feed_writer *writer)
{
    if (writer->header) {
        part_end(&writer->rings);
        part_end(&writer->event_rings);
        part_end(&writer->codes);
        sys_call2(SYS_munmap, writer->header, writer->start_bytes);
    }
    memset(writer, 0, sizeof *writer);
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

bool feed_writer_thread_claim_slot(struct feed_writer *writer, uint32_t slot, int32_t tid,
                                   int64_t start_us)
{
    struct feed_thread *thread = &writer->threads[slot];

    if (ring_offset(slot) >= writer->rings.bytes || !claim(thread))
        return false;
    if (!part_reach(&writer->rings, ring_offset(slot))) {
        feed_writer_thread_unclaim(writer, slot);
        return false;
    }
    atomic_fetch_add_explicit(&thread->generation, 1, memory_order_relaxed);
    atomic_store_explicit(&thread->tid, tid, memory_order_relaxed);
    store_name(thread, (const uint64_t[2]){ 0, 0 });
    atomic_store_explicit(&thread->named, 0, memory_order_relaxed);
    thread->start_us = start_us;
    atomic_store_explicit(&thread->own, 0, memory_order_relaxed);
    atomic_store_explicit(&thread->thread_pointer, 0, memory_order_relaxed);
    atomic_store_explicit(&thread->owed, 0, memory_order_relaxed);
    feed_writer_thread_stack(writer, slot, 0, 0, 0);
    atomic_raise(&writer->header->status.threads_used, slot + 1);
    return true;
}

uint32_t feed_writer_thread_claim(struct feed_writer *writer, int32_t tid, int64_t start_us)
{
    for (uint32_t slot = 1; ring_offset(slot) < writer->rings.bytes; slot++)
        if (atomic_load_explicit(&writer->threads[slot].state, memory_order_relaxed) ==
                FEED_THREAD_FREE &&
            feed_writer_thread_claim_slot(writer, slot, tid, start_us))
            return slot;
    return 0;
}

void feed_writer_thread_unclaim(struct feed_writer *writer, uint32_t slot)
{
    atomic_store_explicit(&writer->threads[slot].state, FEED_THREAD_FREE, memory_order_release);
}

void feed_writer_thread_stack(struct feed_writer *writer, uint32_t slot, uint64_t low,
                              uint64_t high, uint64_t root)
{
    struct feed_thread *thread = &writer->threads[slot];

    atomic_store_explicit(&thread->stack_low, low, memory_order_relaxed);
    atomic_store_explicit(&thread->stack_root, root, memory_order_relaxed);
    atomic_store_explicit(&thread->stack_high, high, memory_order_release);
}

void feed_writer_thread_publish(struct feed_writer *writer, uint32_t slot)
{
    atomic_store_explicit(&writer->threads[slot].state, FEED_THREAD_LIVE, memory_order_release);
}

void feed_writer_thread_end(struct feed_writer *writer, uint32_t slot)
{
    atomic_store_explicit(&writer->threads[slot].state, FEED_THREAD_ENDED, memory_order_release);
}

void feed_writer_thread_named(struct feed_writer *writer, uint32_t slot)
{
    atomic_store_explicit(&writer->threads[slot].named, 1, memory_order_release);
}

void feed_writer_thread_name(struct feed_writer *writer, uint32_t slot, const char name[16])
{
    struct feed_thread *thread = &writer->threads[slot];
    uint64_t words[2];

    memcpy(words, name, sizeof words);
    ((char *)words)[sizeof words - 1] = 0;
    if (words[0] != atomic_load_explicit(&thread->name[0], memory_order_relaxed) ||
        words[1] != atomic_load_explicit(&thread->name[1], memory_order_relaxed))
        store_name(thread, words);
}

void feed_writer_ring(const struct feed_writer *writer, uint32_t slot, struct ring_writer *out)
{
    *out = (struct ring_writer){
        .head = &writer->threads[slot].head,
        .tail = &writer->threads[slot].tail,
        .bytes = part_at(&writer->rings, ring_offset(slot)),
        .size_bytes = FEED_RING_BYTES,
        .low_bytes = FEED_RING_LOW_BYTES,
    };
}

/* Any thread, and the tick handler, may add at the same time: each takes its own bytes first. */
SIGNAL_SAFE_INLINE uint32_t name_add(struct feed_writer *writer, const char *name, size_t length,
                                     uint32_t room)
{
    struct feed_status *status = &writer->header->status;
    uint32_t place = atomic_load_explicit(&status->names_used, memory_order_relaxed);
    char *at;

    do {
        if (place >= room || length >= room - place)
            return 0;
    } while (!atomic_compare_exchange_weak_explicit(&status->names_used, &place,
                                                    place + (uint32_t)length + 1,
                                                    memory_order_relaxed, memory_order_relaxed));
    at = writer->names + place;
    memcpy(at, name, length);
    at[length] = 0;
    return place;
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
SIGNAL_SAFE_INLINE bool same_name(const struct feed_writer *writer, uint32_t place,
                                  const char *name, size_t length)
{
    const char *at = writer->names + place;

    return place < FEED_NAMES_BYTES && length < FEED_NAMES_BYTES - place &&
           memcmp(at, name, length) == 0 && !at[length];
}

/* 0: no room, in the bytes or in the index. */
SIGNAL_SAFE_INLINE uint32_t name_place(struct feed_writer *writer, const char *name, size_t length)
{
    uint32_t slot = name_hash(name, length), added = 0;

    for (int probe = 0; probe < NAME_PROBES_MAX; probe++) {
        _Atomic uint32_t *entry = &writer->name_index[slot++ % FEED_NAME_INDEX_SLOTS];
        uint32_t place = atomic_load_explicit(entry, memory_order_acquire);

        if (!place) {
            if (!added)
                added = name_add(writer, name, length, FEED_NAMES_BYTES - NAMES_FOR_PATHS);
            if (!added || atomic_compare_exchange_strong_explicit(
                              entry, &place, added, memory_order_acq_rel, memory_order_acquire))
                return added;
        }
        if (same_name(writer, place, name, length))
            return place;
    }
    return added;
}

uint32_t feed_writer_name(struct feed_writer *writer, const char *name)
{
    size_t length = 0;
    uint32_t place;

    while (length < FEED_NAME_MAX && name[length])
        length++;
    if (!length)
        return 0;
    place = name_place(writer, name, length);
    if (!place)
        atomic_fetch_add_explicit(&writer->header->status.names_full, 1, memory_order_relaxed);
    return place;
}

struct feed_module *feed_writer_module(const struct feed_writer *writer, uint32_t number)
{
    const struct feed_status *status = &writer->header->status;

    return number < atomic_load_explicit(&status->modules_used, memory_order_acquire) &&
                   number < FEED_MODULES_MAX
               ? &writer->modules[number]
               : NULL;
}

uint32_t feed_writer_module_add(struct feed_writer *writer, const struct feed_module *module,
                                const char *path)
{
    struct feed_status *status = &writer->header->status;
    uint32_t number = atomic_load_explicit(&status->modules_used, memory_order_relaxed);
    struct feed_module *added;
    uint32_t path_offset;

    if (number >= FEED_MODULES_MAX ||
        !(path_offset = name_add(writer, path, strlen(path), FEED_NAMES_BYTES))) {
        feed_count(&status->lost[FEED_LOSS_MODULES_FULL], 1);
        return 0;
    }
    added = &writer->modules[number];
    *added = *module;
    added->path_offset = path_offset;
    atomic_store_explicit(&status->modules_used, number + 1, memory_order_release);
    return number;
}
