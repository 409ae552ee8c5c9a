#include "feed_reader_state.h"

#include "../include/isoscope/isoscope.h"
#include "atomic_raise.h"
#include "message.h"
#include "ring.h"
#include "feed_writer.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TABLE_STEP = 64 }; /* a power of two: what grows with use grows by so many */

/* [offset, offset + bytes) lies in the feed, behind the header, 8-byte aligned. */
static bool part_fits(const struct feed_header *header, uint64_t offset, uint64_t bytes)
{
    return offset >= sizeof *header && offset % 8 == 0 && offset <= header->feed_bytes &&
           bytes <= header->feed_bytes - offset;
}

static bool layout_believable(const struct feed_header *header, uint64_t file_bytes)
{
    uint64_t threads = header->thread_capacity;

    return header->head.magic == FEED_MAGIC && header->head.version == FEED_VERSION &&
           header->feed_bytes == file_bytes && threads >= 1 && threads <= FEED_THREADS_MAX &&
           header->module_capacity >= 1 && header->module_capacity <= FEED_MODULES_MAX &&
           header->names_bytes <= FEED_NAMES_BYTES && header->ring_bytes == FEED_RING_BYTES &&
           part_fits(header, header->threads_offset, threads * sizeof(struct feed_thread)) &&
           header->loop_capacity >= 1 && header->loop_capacity <= FEED_LOOPS_MAX &&
           part_fits(header, header->loops_offset,
                     header->loop_capacity * (uint64_t)sizeof(struct feed_loop)) &&
           part_fits(header, header->modules_offset,
                     header->module_capacity * (uint64_t)sizeof(struct feed_module)) &&
           part_fits(header, header->names_offset, header->names_bytes) &&
           header->codes_bytes <= FEED_CODES_BYTES &&
           part_fits(header, header->codes_offset, header->codes_bytes) &&
           part_fits(header, header->runtimes_offset,
                     FEED_RUNTIMES_MAX * sizeof(struct feed_runtime)) &&
           part_fits(header, header->rings_offset, threads * FEED_RING_BYTES) &&
           header->event_ring_bytes == FEED_EVENT_RING_BYTES &&
           header->event_ring_capacity <= FEED_EVENT_RINGS_MAX &&
           part_fits(header, header->event_rings_offset,
                     header->event_ring_capacity * (uint64_t)FEED_EVENT_RING_BYTES);
}

/* An unsealed feed could shrink under us, and reading it would end the service with SIGBUS. */
static bool cannot_shrink(int memfd)
{
    int seals = fcntl(memfd, F_GET_SEALS);

    return seals >= 0 && (seals & F_SEAL_SHRINK);
}

static int map_feed(struct feed_reader *reader, int memfd)
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
    reader->loops = (struct feed_loop *)(base + reader->layout.loops_offset);
    reader->modules = (struct feed_module *)(base + reader->layout.modules_offset);
    reader->names = (const char *)(base + reader->layout.names_offset);
    reader->runtimes = (struct feed_runtime *)(base + reader->layout.runtimes_offset);
    reader->codes = base + reader->layout.codes_offset;
    reader->rings = base + reader->layout.rings_offset;
    reader->event_rings = base + reader->layout.event_rings_offset;
    return 0;
}

int feed_reader_open(struct feed_reader **out, int memfd)
{
    struct feed_reader *reader = calloc(1, sizeof *reader);
    int error = reader ? map_feed(reader, memfd) : -ISOSCOPE_NO_MEMORY;

    close(memfd);
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
        munmap(reader->shared, reader->layout.feed_bytes);
    for (uint32_t number = 0; number < reader->paths_room; number++)
        free(reader->paths[number]);
    free(reader->paths);
    free(reader->places);
    free(reader);
}

int32_t feed_reader_pid(const struct feed_reader *reader)
{
    return reader->layout.head.pid;
}

int64_t feed_reader_start_us(const struct feed_reader *reader)
{
    return reader->layout.head.start_us;
}

bool feed_reader_writer(struct feed_reader *reader, struct feed_writer *out)
{
    return feed_writer_over(out, reader->shared, &reader->layout);
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

/* The next tick sees it. */
static void tell(struct feed_control *control)
{
    atomic_fetch_add_explicit(&control->changes, 1, memory_order_release);
}

void feed_reader_control(struct feed_reader *reader, const struct feed_settings *settings)
{
    struct feed_control *control = &reader->shared->control;

    atomic_store_explicit(&control->period_us, settings->period_us, memory_order_relaxed);
    atomic_store_explicit(&control->depth_max, settings->depth_max, memory_order_relaxed);
    atomic_store_explicit(&control->mode, settings->mode, memory_order_relaxed);
    write_wall_threads(control, settings->wall_threads);
    atomic_store_explicit(&control->wants, settings->wants, memory_order_relaxed);
    atomic_store_explicit(&control->allocation_bytes, settings->allocation_bytes,
                          memory_order_relaxed);
    atomic_store_explicit(&control->lock_us, settings->lock_us, memory_order_relaxed);
    atomic_store_explicit(&control->enabled, settings->enabled, memory_order_relaxed);
    tell(control);
}

void feed_reader_clock_runs(struct feed_reader *reader, bool runs)
{
    atomic_store_explicit(&reader->shared->control.clock_runs, runs, memory_order_release);
}

bool feed_reader_clock_is_on(const struct feed_reader *reader)
{
    return atomic_load_explicit(&reader->shared->control.clock_runs, memory_order_relaxed) != 0;
}

static enum feed_allocations_seen seen_in(const struct feed_status *status)
{
    uint32_t seen = atomic_load_explicit(&status->allocations_seen, memory_order_relaxed);

    return seen <= FEED_ALLOCATIONS_OWN ? (enum feed_allocations_seen)seen
                                        : FEED_ALLOCATIONS_UNSEEN;
}

static enum feed_faults_seen faults_in(const struct feed_status *status)
{
    uint32_t seen = atomic_load_explicit(&status->faults_seen, memory_order_relaxed);

    return seen <= FEED_FAULTS_REFUSED ? (enum feed_faults_seen)seen : FEED_FAULTS_UNSEEN;
}

static enum feed_timer_reason reason_in(const struct feed_status *status)
{
    uint32_t reason = atomic_load_explicit(&status->clock_reason, memory_order_acquire);

    return reason < FEED_TIMER_REASON_COUNT ? (enum feed_timer_reason)reason
                                            : FEED_TIMER_REASON_NONE;
}

#define STATUS(field) atomic_load_explicit(&status->field, memory_order_relaxed)

void feed_reader_clock(const struct feed_reader *reader, struct feed_clock_view *out)
{
    const struct feed_status *status = &reader->shared->status;

    *out = (struct feed_clock_view){
        .reason = reason_in(status),
        .period_us = STATUS(clock_period_us),
        .before = STATUS(clock_before),
        .tid = STATUS(clock_tid),
        .live = STATUS(live),
        .short_ended = STATUS(short_ended),
        .suspects = STATUS(suspects_tracer),
        .stopped = STATUS(stopped) != 0,
    };
}

void feed_reader_head(const struct feed_reader *reader, struct feed_head *out)
{
    *out = reader->layout.head;
}

void feed_reader_alive(struct feed_reader *reader, int64_t now_us)
{
    atomic_store_explicit(&reader->shared->control.reader_us, now_us, memory_order_relaxed);
}

/* What the clock can do that ticks. */
static uint32_t true_period_us(const struct feed_header *shared, enum feed_timer timer)
{
    uint32_t period_us = atomic_load_explicit(&shared->control.period_us, memory_order_relaxed);
    uint32_t mode = atomic_load_explicit(&shared->control.mode, memory_order_relaxed);
    uint32_t timer_us = atomic_load_explicit(&shared->status.timer_period_us, memory_order_relaxed);
    uint32_t least_us = mode == FEED_MODE_WALL          ? FEED_WALL_PERIOD_MIN_US
                        : timer == FEED_TIMER_CPU_CLOCK ? timer_us
                                                        : FEED_PERIOD_MIN_US;

    return period_us > least_us ? period_us : least_us;
}

void feed_reader_status(const struct feed_reader *reader, struct feed_status_view *out)
{
    const struct feed_status *status = &reader->shared->status;
    enum feed_timer_reason reason = reason_in(status);
    uint32_t outside = STATUS(outside_timer);
    enum feed_timer timer = outside > 0 && outside < FEED_TIMER_COUNT ? (enum feed_timer)outside
                            : reason == FEED_TIMER_REASON_NONE        ? FEED_TIMER_PERF_TRAP
                                                                      : FEED_TIMER_CPU_CLOCK;

    *out = (struct feed_status_view){
        .timer = timer,
        .true_period_us = true_period_us(reader->shared, timer),
        .timer_reason = reason,
        .threads_used = STATUS(threads_used),
        .modules_used = STATUS(modules_used),
        .modules_live = STATUS(modules_live),
        .unloads = STATUS(unloads),
        .module_looks = STATUS(module_looks),
        .names_full = STATUS(names_full),
        .codes_full = STATUS(codes_full),
        .loops_lost = STATUS(loops_lost),
        .allocations_seen = seen_in(status),
        .allocations = STATUS(allocations),
        .allocations_lost = STATUS(allocations_lost),
        .allocations_loose = STATUS(allocations_loose),
        .locks_seen = STATUS(locks_seen) != 0,
        .lock_waits = STATUS(lock_waits),
        .lock_ns = STATUS(lock_ns),
        .waits_sampled = STATUS(waits_sampled),
        .waits_lost = STATUS(waits_lost),
        .faults_seen = faults_in(status),
        .faults_period = STATUS(faults_period),
        .faults_sampled = STATUS(faults_sampled),
        .faults_lost = STATUS(faults_lost),
        .names_cut = STATUS(names_cut),
        .texts_cut = STATUS(texts_cut),
        .ticks = STATUS(ticks),
        .delivered = STATUS(delivered),
        .table_bytes = STATUS(table_bytes),
        .upkeep_ns = STATUS(upkeep_ns),
        .cpu_ns = STATUS(cpu_ns),
        .sampled_ns = STATUS(sampled_ns),
    };
    for (int loss = 0; loss < FEED_LOSS_COUNT; loss++)
        out->lost[loss] = STATUS(lost[loss]);
    for (int end = 0; end < FEED_END_COUNT; end++)
        out->ends[end] = STATUS(ends[end]);
    for (int loss = 0; loss < FEED_EVENT_LOSS_COUNT; loss++)
        out->events_lost[loss] = STATUS(events_lost[loss]);
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
    out->named = atomic_load_explicit(&thread->named, memory_order_acquire) != 0;
    copy_name(thread, out->name);
    return true;
}

void feed_reader_name_thread(struct feed_reader *reader, uint32_t slot, const char name[16])
{
    struct feed_writer writer;

    if (slot > 0 && slot < reader->layout.thread_capacity && feed_reader_writer(reader, &writer))
        feed_writer_thread_name(&writer, slot, name);
}

static struct ring_place place_of(const _Atomic uint64_t *told)
{
    uint64_t tail = atomic_load_explicit(told, memory_order_relaxed);

    return (struct ring_place){ tail, tail };
}

/* Goes on where the reader before this one, of a service that ended, had come to. */
bool feed_reader_reach_place(struct feed_reader *reader, uint32_t slot)
{
    uint32_t room = (slot + TABLE_STEP) & ~(uint32_t)(TABLE_STEP - 1);
    struct slot_places *places;

    if (slot < reader->places_room)
        return true;
    if (room > reader->layout.thread_capacity)
        room = reader->layout.thread_capacity;
    places = reallocarray(reader->places, room, sizeof *places);
    if (!places)
        return false;
    for (uint32_t i = reader->places_room; i < room; i++)
        places[i] = (struct slot_places){
            place_of(&reader->threads[i].tail),
            place_of(&reader->threads[i].event_tail),
        };
    reader->places = places;
    reader->places_room = room;
    return true;
}

static struct ring_reader ring_of(struct feed_reader *reader, uint32_t slot)
{
    return (struct ring_reader){
        .head = &reader->threads[slot].head,
        .told = &reader->threads[slot].tail,
        .bytes = reader->rings + (uint64_t)slot * FEED_RING_BYTES,
        .size_bytes = FEED_RING_BYTES,
        .at = reader->places[slot].samples,
    };
}

bool feed_reader_read(struct feed_reader *reader, struct ring_reader *ring)
{
    int bytes = ring_read(ring, &reader->record, sizeof reader->record);

    if (bytes < 0) {
        reader->corrupt++;
        ring_skip(ring);
    }
    return bytes > 0;
}

enum found feed_reader_found(struct feed_reader *reader, struct ring_reader *ring,
                             enum feed_record_is is)
{
    reader->corrupt += is == FEED_RECORD_IS_BAD;
    reader->unknown += is == FEED_RECORD_IS_UNKNOWN;
    ring_release(ring);
    return is == FEED_RECORD_IS_GOOD ? FOUND_NEXT : FOUND_SKIPPED;
}

static enum found find_next(struct feed_reader *reader, struct ring_reader *ring, uint32_t slot,
                            int64_t until_us)
{
    enum feed_record_is is;

    if (!feed_reader_read(reader, ring))
        return FOUND_NONE;
    is = feed_record_check(&reader->record, slot);
    if (is == FEED_RECORD_IS_GOOD && reader->record.timed.timestamp_us > until_us)
        return FOUND_LATER; /* it is not released, and comes again */
    return feed_reader_found(reader, ring, is);
}

const union feed_any *feed_reader_next(struct feed_reader *reader, uint32_t slot, int64_t until_us)
{
    enum found found = FOUND_SKIPPED;
    struct ring_reader ring;
    uint64_t began;

    if (slot >= reader->layout.thread_capacity || !feed_reader_reach_place(reader, slot))
        return NULL;
    ring = ring_of(reader, slot);
    began = ring.at.tail;
    /* More than a ring holds comes from a writer that would keep us here. */
    while (found == FOUND_SKIPPED && ring.at.tail - began < FEED_RING_BYTES)
        found = find_next(reader, &ring, slot, until_us);
    /* Also when nothing is given out: what was skipped is released. */
    reader->places[slot].samples = ring.at;
    return found == FOUND_NEXT ? &reader->record : NULL;
}

uint32_t feed_reader_allocations_freed(const struct feed_reader *reader)
{
    return atomic_load_explicit(&reader->shared->status.allocations_freed, memory_order_acquire);
}

bool feed_reader_allocation_lives(const struct feed_reader *reader, uint64_t mark)
{
    const struct feed_allocation *table = (const struct feed_allocation *)reader->event_rings;

    return mark && reader->layout.event_ring_capacity &&
           atomic_load_explicit(&table[FEED_ALLOCATION_PLACE(mark)].mark, memory_order_acquire) ==
               mark;
}

uint32_t feed_reader_allocations_level(const struct feed_reader *reader)
{
    uint32_t level =
        atomic_load_explicit(&reader->shared->status.allocations_level, memory_order_acquire);

    return level <= FEED_ALLOCATION_LEVEL_MAX ? level : FEED_ALLOCATION_LEVEL_MAX;
}

void feed_reader_raise_level(struct feed_reader *reader, uint32_t level)
{
    atomic_raise(&reader->shared->control.live_level, level);
}

size_t feed_reader_allocations_bytes(const struct feed_reader *reader)
{
    uint32_t places =
        atomic_load_explicit(&reader->shared->status.allocations_places, memory_order_relaxed);

    if (places < FEED_ALLOCATIONS_FIRST)
        places = FEED_ALLOCATIONS_FIRST;
    return (places < FEED_ALLOCATIONS ? places : FEED_ALLOCATIONS) * sizeof(struct feed_allocation);
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

static bool reach_path(struct feed_reader *reader, uint32_t number)
{
    uint32_t room = (number + TABLE_STEP) & ~(uint32_t)(TABLE_STEP - 1);
    char **paths;

    if (number < reader->paths_room)
        return true;
    paths = reallocarray(reader->paths, room, sizeof *paths);
    if (!paths)
        return false;
    memset(paths + reader->paths_room, 0, (room - reader->paths_room) * sizeof *paths);
    reader->paths = paths;
    reader->paths_room = room;
    return true;
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
    if (!reach_path(reader, number))
        return false;
    if (!reader->paths[number])
        reader->paths[number] = copy_path(reader, module.path_offset);
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

void feed_reader_told(struct feed_reader *reader)
{
    tell(&reader->shared->control);
}

bool feed_reader_copy_name(const struct feed_reader *reader, uint32_t place,
                           char name[FEED_NAME_MAX + 1])
{
    uint32_t room = reader->layout.names_bytes;
    uint32_t bytes = FEED_NAME_MAX;

    if (place == 0 || place >= room)
        return false;
    if (bytes > room - place)
        bytes = room - place;
    memcpy(name, reader->names + place, bytes);
    name[bytes] = 0;
    return *name != 0;
}

bool feed_reader_name(struct feed_reader *reader, uint32_t place, char name[FEED_NAME_MAX + 1])
{
    reader->corrupt += place >= reader->layout.names_bytes;
    return feed_reader_copy_name(reader, place, name);
}

uint64_t feed_reader_corrupt(const struct feed_reader *reader)
{
    return reader->corrupt;
}

uint64_t feed_reader_unknown(const struct feed_reader *reader)
{
    return reader->unknown;
}
