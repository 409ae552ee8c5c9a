#include "reader.h"

#include "../include/isoscope/isoscope.h"
#include "message.h"
#include "ring.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

struct feed_reader {
    struct feed_header
        layout; /* copied once and checked; the segment's own is not looked at again */
    struct feed_header *shared; /* control and status only */
    struct feed_thread *threads;
    struct feed_module *modules;
    const char *names;
    const uint8_t *rings;
    uint64_t corrupt;
    uint64_t *tails;    /* by slot: how far it was read */
    char **paths;       /* by module number: copied when first asked for */
    uint32_t paths_end; /* there are none from here on */
    union {
        struct feed_record head;
        struct feed_sample sample;
        struct feed_again again;
        uint8_t bytes[sizeof(struct feed_sample) + FEED_DEPTH_MAX * sizeof(uint64_t)];
    } record;
};

/* [offset, offset + bytes) lies in the segment, behind the header, 8-byte aligned. */
static bool part_fits(const struct feed_header *header, uint64_t offset, uint64_t bytes)
{
    return offset >= sizeof *header && offset % 8 == 0 && offset <= header->segment_bytes &&
           bytes <= header->segment_bytes - offset;
}

static bool layout_believable(const struct feed_header *header, uint64_t file_bytes)
{
    uint64_t threads = header->thread_capacity;

    return header->magic == FEED_MAGIC && header->version == FEED_VERSION &&
           header->segment_bytes == file_bytes && threads >= 1 && threads <= FEED_THREADS_MAX &&
           header->module_capacity >= 1 && header->module_capacity <= FEED_MODULES_MAX &&
           header->names_bytes <= FEED_NAMES_BYTES && header->ring_bytes == FEED_RING_BYTES &&
           part_fits(header, header->threads_offset, threads * sizeof(struct feed_thread)) &&
           part_fits(header, header->modules_offset,
                     header->module_capacity * (uint64_t)sizeof(struct feed_module)) &&
           part_fits(header, header->names_offset, header->names_bytes) &&
           part_fits(header, header->rings_offset, threads * FEED_RING_BYTES);
}

/* An unsealed segment could shrink under us, and reading it would end the service with SIGBUS. */
static bool cannot_shrink(int memfd)
{
    int seals = fcntl(memfd, F_GET_SEALS);

    return seals >= 0 && (seals & F_SEAL_SHRINK);
}

static int map_segment(struct feed_reader *reader, int memfd)
{
    struct stat file;
    uint8_t *base;

    if (!cannot_shrink(memfd) || fstat(memfd, &file) < 0 ||
        file.st_size < (off_t)sizeof reader->layout ||
        pread(memfd, &reader->layout, sizeof reader->layout, 0) != sizeof reader->layout ||
        !layout_believable(&reader->layout, (uint64_t)file.st_size))
        return -ISOSCOPE_BAD_FEED;
    base = mmap(NULL, (size_t)file.st_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
                memfd, 0);
    if (base == MAP_FAILED)
        return -ISOSCOPE_SYSTEM;
    reader->shared = (struct feed_header *)base;
    reader->threads = (struct feed_thread *)(base + reader->layout.threads_offset);
    reader->modules = (struct feed_module *)(base + reader->layout.modules_offset);
    reader->names = (const char *)(base + reader->layout.names_offset);
    reader->rings = base + reader->layout.rings_offset;
    return 0;
}

/* Goes on where the reader before this one, of a service that ended, had come to. */
static void resume(struct feed_reader *reader)
{
    for (uint32_t slot = 0; slot < feed_reader_slots(reader); slot++)
        reader->tails[slot] =
            atomic_load_explicit(&reader->threads[slot].tail, memory_order_relaxed);
}

int feed_reader_open(struct feed_reader **out, int memfd)
{
    struct feed_reader *reader = calloc(1, sizeof *reader);
    int error = reader ? map_segment(reader, memfd) : -ISOSCOPE_NO_MEMORY;

    close(memfd);
    if (!error) {
        reader->tails = calloc(reader->layout.thread_capacity, sizeof *reader->tails);
        reader->paths = calloc(reader->layout.module_capacity, sizeof *reader->paths);
        error = reader->tails && reader->paths ? 0 : -ISOSCOPE_NO_MEMORY;
    }
    if (!error)
        resume(reader);
    if (error) {
        feed_reader_free(reader);
        return error;
    }
    *out = reader;
    return 0;
}

void feed_reader_free(struct feed_reader *reader)
{
    if (!reader)
        return;
    if (reader->shared)
        munmap(reader->shared, reader->layout.segment_bytes);
    for (uint32_t number = 0; reader->paths && number < reader->paths_end; number++)
        free(reader->paths[number]);
    free(reader->paths);
    free(reader->tails);
    free(reader);
}

int32_t feed_reader_pid(const struct feed_reader *reader)
{
    return reader->layout.pid;
}

int64_t feed_reader_start_us(const struct feed_reader *reader)
{
    return reader->layout.start_us;
}

/* The service alone writes the list. */
static void write_wall_threads(struct feed_control *control,
                               const char list[FEED_WALL_THREADS_BYTES])
{
    uint32_t seq = atomic_load_explicit(&control->wall_threads_seq, memory_order_relaxed);
    bool same = true;

    for (uint32_t i = 0; i < FEED_WALL_THREADS_BYTES; i++)
        same &= atomic_load_explicit(&control->wall_threads[i], memory_order_relaxed) == list[i];
    if (same)
        return;
    seq += seq % 2; /* a service before this one may have died in the middle */
    atomic_store_explicit(&control->wall_threads_seq, seq + 1, memory_order_relaxed);
    for (uint32_t i = 0; i < FEED_WALL_THREADS_BYTES; i++) /* none is seen before the odd number */
        atomic_store_explicit(&control->wall_threads[i], list[i], memory_order_release);
    atomic_store_explicit(&control->wall_threads_seq, seq + 2, memory_order_release);
}

static void wake(struct feed_control *control)
{
    atomic_fetch_add_explicit(&control->wake, 1, memory_order_release);
    syscall(SYS_futex, &control->wake, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void feed_reader_control(struct feed_reader *reader, const struct feed_settings *settings)
{
    struct feed_control *control = &reader->shared->control;

    atomic_store_explicit(&control->period_us, settings->period_us, memory_order_relaxed);
    atomic_store_explicit(&control->depth_max, settings->depth_max, memory_order_relaxed);
    atomic_store_explicit(&control->mode, settings->mode, memory_order_relaxed);
    write_wall_threads(control, settings->wall_threads);
    atomic_store_explicit(&control->enabled, settings->enabled, memory_order_relaxed);
    wake(control);
}

void feed_reader_traced(struct feed_reader *reader, bool traced)
{
    atomic_store_explicit(&reader->shared->control.traced, traced, memory_order_relaxed);
    wake(&reader->shared->control);
}

bool feed_reader_gave_clock_up(const struct feed_reader *reader)
{
    return atomic_load_explicit(&reader->shared->status.clock_given_up, memory_order_acquire) != 0;
}

void feed_reader_alive(struct feed_reader *reader, int64_t now_us)
{
    atomic_store_explicit(&reader->shared->control.reader_us, now_us, memory_order_relaxed);
}

#define STATUS(field) atomic_load_explicit(&status->field, memory_order_relaxed)

void feed_reader_status(const struct feed_reader *reader, struct feed_status_view *out)
{
    const struct feed_status *status = &reader->shared->status;
    uint32_t timer = STATUS(timer), reason = STATUS(timer_reason);

    *out = (struct feed_status_view){
        .timer = timer < FEED_TIMER_COUNT ? (enum feed_timer)timer : FEED_TIMER_NONE,
        .true_period_us = STATUS(true_period_us),
        .timer_reason = reason < FEED_TIMER_REASON_COUNT ? (enum feed_timer_reason)reason
                                                         : FEED_TIMER_REASON_NONE,
        .sampler_tid = (int32_t)STATUS(sampler_tid),
        .threads_used = STATUS(threads_used),
        .modules_used = STATUS(modules_used),
        .modules_live = STATUS(modules_live),
        .names_full = STATUS(names_full),
        .ticks = STATUS(ticks),
        .delivered = STATUS(delivered),
        .table_bytes = STATUS(table_bytes),
        .sampler_cpu_ns = STATUS(sampler_cpu_ns),
        .cpu_ns = STATUS(cpu_ns),
        .sampled_ns = STATUS(sampled_ns),
    };
    for (int loss = 0; loss < FEED_LOSS_COUNT; loss++)
        out->lost[loss] = STATUS(lost[loss]);
    for (int end = 0; end < FEED_END_COUNT; end++)
        out->ends[end] = STATUS(ends[end]);
}

uint32_t feed_reader_slots(const struct feed_reader *reader)
{
    const struct feed_status *status = &reader->shared->status;
    uint32_t used = atomic_load_explicit(&status->threads_used, memory_order_acquire);

    return used < reader->layout.thread_capacity ? used : reader->layout.thread_capacity;
}

/* The name may change while it is copied; after a few tries a torn one is good enough to show. */
static void copy_name(const struct feed_thread *thread, char name[16])
{
    for (int tries = 0; tries < 4; tries++) {
        uint32_t before = atomic_load_explicit(&thread->name_seq, memory_order_acquire);
        uint64_t words[2] = { atomic_load_explicit(&thread->name[0], memory_order_acquire),
                              atomic_load_explicit(&thread->name[1], memory_order_acquire) };

        memcpy(name, words, sizeof words);
        name[sizeof words - 1] = 0;
        if (before % 2 == 0 &&
            before == atomic_load_explicit(&thread->name_seq, memory_order_relaxed))
            return;
    }
}

bool feed_reader_thread(struct feed_reader *reader, uint32_t slot, struct feed_thread_view *out)
{
    struct feed_thread *thread;
    uint32_t state;

    if (slot == 0 || slot >= reader->layout.thread_capacity)
        return false;
    thread = &reader->threads[slot];
    state = atomic_load_explicit(&thread->state, memory_order_acquire);
    if (state != FEED_THREAD_LIVE && state != FEED_THREAD_ENDED)
        return false;
    out->state = (enum feed_thread_state)state;
    out->generation = atomic_load_explicit(&thread->generation, memory_order_relaxed);
    out->tid = atomic_load_explicit(&thread->tid, memory_order_relaxed);
    out->start_us = thread->start_us;
    copy_name(thread, out->name);
    return true;
}

static struct ring_reader ring_of(struct feed_reader *reader, uint32_t slot)
{
    return (struct ring_reader){
        .thread = &reader->threads[slot],
        .bytes = reader->rings + (uint64_t)slot * FEED_RING_BYTES,
        .size_bytes = FEED_RING_BYTES,
        .tail = reader->tails[slot],
    };
}

static bool sample_believable(const struct feed_sample *sample, int bytes)
{
    return bytes >= (int)sizeof *sample && sample->depth <= FEED_DEPTH_MAX &&
           sample->end < FEED_END_COUNT &&
           sizeof *sample + sample->depth * sizeof(uint64_t) <= (size_t)bytes;
}

static bool again_believable(const struct feed_again *again, int bytes)
{
    return bytes >= (int)sizeof *again && again->count > 0 && again->count <= FEED_SLEEPERS_MAX &&
           sizeof *again + again->count * sizeof(uint32_t) <= (size_t)bytes;
}

/* Ring 0 tells of other slots, and all others of their own only. */
static bool record_believable(const struct feed_reader *reader, uint32_t ring, int bytes)
{
    switch (reader->record.head.type) {
    case FEED_RECORD_SAMPLE:
        return ring != 0 && sample_believable(&reader->record.sample, bytes);
    case FEED_RECORD_SAMPLE_OF:
        return ring == 0 && sample_believable(&reader->record.sample, bytes);
    case FEED_RECORD_AGAIN:
        return ring == 0 && again_believable(&reader->record.again, bytes);
    default:
        return false;
    }
}

static void view_again(const struct feed_again *again, struct feed_sample_view *out)
{
    *out = (struct feed_sample_view){
        .timestamp_us = again->timestamp_us,
        .sleeper_count = again->count,
        .sleepers = again->sleepers,
    };
}

static void view_sample(const struct feed_sample *sample, struct feed_sample_view *out)
{
    *out = (struct feed_sample_view){
        .timestamp_us = sample->timestamp_us,
        .cpu_ns = sample->cpu_ns,
        .depth = sample->depth,
        .end = (enum feed_end)sample->end,
        .state = sample->state,
        .tag = sample->tag,
        .more_running = sample->more_running,
        .more_runnable = sample->more_runnable,
        .slot = sample->head.slot,
        .generation = sample->generation,
        .frames = sample->frames,
    };
}

bool feed_reader_next(struct feed_reader *reader, uint32_t slot, int64_t until_us,
                      struct feed_sample_view *out)
{
    struct ring_reader ring;
    bool found = false, later = false;

    if (slot >= reader->layout.thread_capacity)
        return false;
    ring = ring_of(reader, slot);
    while (!found && !later) {
        int bytes = ring_read(&ring, &reader->record, sizeof reader->record);

        if (bytes == 0)
            break;
        if (bytes < 0) {
            reader->corrupt++;
            ring_skip(&ring);
            break;
        }
        found = record_believable(reader, slot, bytes);
        if (!found)
            reader->corrupt++;
        later = found && reader->record.sample.timestamp_us > until_us;
        if (!later) /* else it is not released: it comes again */
            ring_release(&ring);
    }
    /* Also when nothing is given out: ring_read may have released what it skipped. */
    reader->tails[slot] = ring.tail;
    if (!found || later)
        return false;
    if (reader->record.head.type == FEED_RECORD_AGAIN)
        view_again(&reader->record.again, out);
    else
        view_sample(&reader->record.sample, out);
    return true;
}

void feed_reader_recycle(struct feed_reader *reader, uint32_t slot)
{
    uint32_t ended = FEED_THREAD_ENDED;

    if (slot > 0 && slot < reader->layout.thread_capacity)
        atomic_compare_exchange_strong_explicit(&reader->threads[slot].state, &ended,
                                                FEED_THREAD_FREE, memory_order_release,
                                                memory_order_relaxed);
}

/* A copy of the path: the program may overwrite its own at any time. NULL when it is none. */
static char *copy_path(const struct feed_reader *reader, uint32_t offset)
{
    uint32_t room = reader->layout.names_bytes;

    return offset < room ? strndup(reader->names + offset, room - offset) : NULL;
}

uint32_t feed_reader_modules(const struct feed_reader *reader)
{
    uint32_t used =
        atomic_load_explicit(&reader->shared->status.modules_used, memory_order_acquire);

    return used < reader->layout.module_capacity ? used : reader->layout.module_capacity;
}

bool feed_reader_module(struct feed_reader *reader, uint32_t number, struct feed_module_view *out)
{
    struct feed_module module;

    if (number == 0 || number >= feed_reader_modules(reader))
        return false;
    memcpy(&module, &reader->modules[number], sizeof module);
    if (!reader->paths[number]) {
        reader->paths[number] = copy_path(reader, module.path_offset);
        if (number >= reader->paths_end)
            reader->paths_end = number + 1;
    }
    if (!reader->paths[number] || module.build_id_bytes > FEED_BUILD_ID_MAX) {
        reader->corrupt++;
        return false;
    }
    *out = (struct feed_module_view){ .bias = module.bias,
                                      .start = module.start,
                                      .end = module.end,
                                      .build_id_bytes = module.build_id_bytes,
                                      .path = reader->paths[number] };
    memcpy(out->build_id, module.build_id, sizeof out->build_id);
    return true;
}

bool feed_reader_has_table(const struct feed_reader *reader, uint32_t number)
{
    return number < reader->layout.module_capacity &&
           atomic_load_explicit(&reader->modules[number].table_at, memory_order_relaxed) != 0;
}

void feed_reader_table(struct feed_reader *reader, uint32_t number, uint64_t at, uint32_t bytes)
{
    if (number == 0 || number >= reader->layout.module_capacity)
        return;
    atomic_store_explicit(&reader->modules[number].table_bytes, bytes, memory_order_relaxed);
    atomic_store_explicit(&reader->modules[number].table_at, at, memory_order_release);
}

void feed_reader_wake(struct feed_reader *reader)
{
    wake(&reader->shared->control);
}

bool feed_reader_name(struct feed_reader *reader, uint32_t place, char name[FEED_NAME_MAX + 1])
{
    uint32_t room = reader->layout.names_bytes;
    uint32_t bytes = FEED_NAME_MAX;

    if (place == 0)
        return false;
    if (place >= room) {
        reader->corrupt++;
        return false;
    }
    if (bytes > room - place)
        bytes = room - place;
    memcpy(name, reader->names + place, bytes);
    name[bytes] = 0;
    return *name != 0;
}

uint64_t feed_reader_corrupt(const struct feed_reader *reader)
{
    return reader->corrupt;
}
