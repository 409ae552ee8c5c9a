#include "capture.h"

#include "fault_handler.h"
#include "sampler_state.h"
#include "scan_memory.h"
#include "system/arch.h"
#include "system/clock.h"
#include "system/maps.h"

#include "../feed/feed_count.h"
#include "../feed/sys.h"

#include <string.h>

SIGNAL_SAFE_INLINE void count_lost(enum feed_loss loss)
{
    feed_count(&sampler.writer.header->status.lost[loss], 1);
}

SIGNAL_SAFE_INLINE void count_refused(const struct ring_writer *ring)
{
    count_lost(ring->refused ? FEED_LOSS_BUSY : FEED_LOSS_RING_FULL);
}

SIGNAL_SAFE_INLINE void open_ring(struct ring_writer *ring, uint32_t slot)
{
    feed_writer_ring(&sampler.writer, slot, ring);
    ring->busy = &threads_at(&sampler.threads, slot)->ring_busy;
}

/* What the thread takes itself may be much, and a full ring would be without ticks. */
SIGNAL_SAFE_INLINE bool leaves_room(const struct ring_writer *ring, enum feed_kind kind)
{
    return !feed_kind_is_own(kind) ||
           atomic_load_explicit(ring->head, memory_order_relaxed) -
                   atomic_load_explicit(ring->tail, memory_order_relaxed) <
               ring->size_bytes / 2;
}

/* The service looks ten times a second, which is too seldom for a program that does little else. */
SIGNAL_SAFE_INLINE void ask_in_time(const struct ring_writer *ring)
{
    if (atomic_load_explicit(ring->head, memory_order_relaxed) -
            atomic_load_explicit(ring->tail, memory_order_relaxed) >
        ring->size_bytes / 8)
        sampler_ask_service();
}

bool capture_begin(struct capture *capture, enum feed_kind kind, uint32_t slot)
{
    capture->kind = kind;
    capture->slot = slot;
    capture->sampled = threads_at(&sampler.threads, slot);
    capture->frames_max = feed_writer_depth_max(&sampler.writer);
    open_ring(&capture->ring, slot);
    capture->sample = NULL;
    if (!leaves_room(&capture->ring, kind))
        return false;
    capture->sample =
        ring_reserve(&capture->ring,
                     (uint32_t)(sizeof *capture->sample + capture->frames_max * sizeof(uint64_t) +
                                feed_words_bytes(kind)));
    if (!capture->sample && !feed_kind_is_own(kind))
        count_refused(&capture->ring);
    return capture->sample != NULL;
}

void capture_cancel(struct capture *capture)
{
    ring_cancel(&capture->ring);
}

/* Of a thread that did not tell. One that is not found is not looked for again. */
SIGNAL_SAFE_INLINE void find_stack(struct sampled_thread *sampled, uint32_t slot,
                                   const ucontext_t *context)
{
    if (sampled->stack.high || sampled->stack_asked || !sampler_try_lock())
        return;
    sampled->stack_asked = true;
    maps_find(arch_register(context, ARCH_SP), &sampled->stack.low, &sampled->stack.high);
    feed_writer_thread_stack(&sampler.writer, slot, sampled->stack.low, sampled->stack.high, 0);
    sampler_unlock();
}

/* Frames of runtimes are wanted, and there are runtimes; or the program has providers of its own. On a
 * stack of ours alone. */
SIGNAL_SAFE_INLINE bool wants_scan(const struct capture_registers *registers)
{
    const struct feed_control *control = &sampler.writer.header->control;

    return registers->roomy &&
           ((runtimes_used(&sampler.writer) &&
             atomic_load_explicit(&control->wants, memory_order_relaxed) & FEED_WANT_RUNTIMES) ||
            atomic_load_explicit(&sampler.providers.list, memory_order_relaxed));
}

/* With its own room for the scan, which other walks need not have. */
static SIGNAL_SAFE __attribute__((noinline)) void walk_scanning(const struct capture *capture,
                                                                struct unwind_request *request,
                                                                struct unwind_result *result)
{
    struct scan_memory *memory = scan_memory();
    struct runtime_scan scan;

    if (memory) {
        struct feed_thread *thread = &sampler.writer.threads[capture->slot];
        uint32_t number = tick_stack_number((uint64_t)&scan);

        scan.writer = &sampler.writer;
        scan.cache = &memory->cache;
        scan.texts = &memory->texts[number % TICK_STACKS];
        scan.tid = atomic_load_explicit(&thread->tid, memory_order_relaxed);
        scan.thread_pointer = arch_thread_pointer();
        if (atomic_load_explicit(&thread->thread_pointer, memory_order_relaxed) !=
            scan.thread_pointer)
            atomic_store_explicit(&thread->thread_pointer, scan.thread_pointer,
                                  memory_order_relaxed);
        scan.wants =
            atomic_load_explicit(&sampler.writer.header->control.wants, memory_order_relaxed);
        guarded_memory_begin(&scan.memory, fault_handler_take() ? &memory->pages : NULL,
                             !(request->context->uc_stack.ss_flags & SS_DISABLE));
        runtime_scan_begin(&scan);
        request->scan = &scan;
    }
    unwind(request, capture->sample->frames, result);
    if (request->scan) {
        guarded_memory_end(&scan.memory);
        fault_handler_send_held();
    }
}

/* With the map that is in force. False: there is none yet. */
SIGNAL_SAFE_INLINE bool walk_once(const struct capture *capture,
                                  const struct capture_registers *registers,
                                  struct unwind_result *result)
{
    uint32_t group;
    const struct code_map *map = code_map_enter(&sampler.modules.maps, &group);
    struct unwind_request request = {
        .map = map,
        .stack = &capture->sampled->stack,
        .outer_frames = &capture->sampled->outer_frames,
        .context = registers->context,
        .frames_max = capture->frames_max,
        .named = &sampler.named,
        .providers = &sampler.providers,
        .cramped = !registers->roomy,
    };

    if (map && wants_scan(registers))
        walk_scanning(capture, &request, result);
    else if (map)
        unwind(&request, capture->sample->frames, result);
    code_map_leave(&sampler.modules.maps, group);
    return map != NULL;
}

/* A stack that leads into code that is not known is walked again, when that is known. */
SIGNAL_SAFE_INLINE bool walk(const struct capture *capture,
                             const struct capture_registers *registers,
                             struct unwind_result *result)
{
    if (!walk_once(capture, registers, result))
        return false;
    return !result->unknown_code || !registers->roomy || !tend_unknown_code() ||
           walk_once(capture, registers, result);
}

/* Of the interpreter's lock, where somebody asked. */
SIGNAL_SAFE_INLINE enum feed_state state_of(enum feed_state state,
                                            const struct unwind_result *result)
{
    const struct feed_control *control = &sampler.writer.header->control;

    if (result->lock == RUNTIME_LOCK_UNKNOWN ||
        !(atomic_load_explicit(&control->wants, memory_order_relaxed) & FEED_WANT_GIL))
        return state;
    return result->lock == RUNTIME_LOCK_HELD ? FEED_STATE_GIL_HELD : FEED_STATE_GIL_WAIT;
}

SIGNAL_SAFE_INLINE void fill(const struct capture *capture, const struct sample_weight *weight,
                             const char *tag, const struct unwind_result *result)
{
    struct feed_sample *sample = capture->sample;

    sample->timestamp_us = (int64_t)(capture->began_ns / 1000);
    sample->cpu_ns = weight->cpu_ns;
    sample->depth = (uint16_t)result->depth;
    sample->end = (uint8_t)result->end;
    sample->state = (uint8_t)state_of(weight->state, result);
    sample->tag = tag ? feed_writer_name(&sampler.writer, tag) : result->task;
    sample->more_running = weight->more_running;
    sample->more_runnable = weight->more_runnable;
    sample->generation = 0;
    sample->kind = (uint16_t)capture->kind;
    sample->head = (struct feed_record){
        .size_bytes = (uint32_t)(sizeof *sample + sample->depth * sizeof(uint64_t)),
        .type = FEED_RECORD_SAMPLE,
    };
    if (feed_kind_is_own(capture->kind)) {
        uint32_t bytes = feed_words_bytes(capture->kind);

        memcpy(&sample->frames[sample->depth], &capture->words, bytes);
        sample->head.size_bytes += bytes;
    }
}

SIGNAL_SAFE_INLINE void count_captured(const struct sample_weight *weight, enum feed_end end)
{
    struct feed_status *status = &sampler.writer.header->status;
    uint64_t samples = 1 + (uint64_t)weight->more_running + weight->more_runnable;

    feed_count(&status->sampled_ns, weight->cpu_ns);
    feed_count(&status->ends[end], samples);
    feed_count(&status->delivered, samples);
}

bool capture(struct capture *capture, const struct sample_weight *weight,
             const struct capture_registers *registers)
{
    struct thread_annotations *own =
        atomic_load_explicit(&capture->sampled->own, memory_order_acquire);
    bool stands_for_time = !feed_kind_is_own(capture->kind);
    struct unwind_result result;

    find_stack(capture->sampled, capture->slot, registers->context);
    capture->began_ns = clock_ns(CLOCK_MONOTONIC);
    if (!walk(capture, registers, &result)) {
        ring_cancel(&capture->ring);
        if (stands_for_time)
            count_lost(FEED_LOSS_NO_TABLES);
        return false;
    }
    fill(capture, weight, own ? thread_annotations_tag(own) : NULL, &result);
    if (!ring_commit(&capture->ring)) {
        if (stands_for_time)
            count_lost(FEED_LOSS_BUSY);
        return false;
    }
    if (!stands_for_time) {
        ask_in_time(&capture->ring);
        return true;
    }
    count_captured(weight, result.end);
    if (own)
        own->samples = own->samples + 1;
    return true;
}

SIGNAL_SAFE_INLINE bool put_record(struct feed_timed *record)
{
    uint32_t slot = threads_find(&sampler.threads, sys_gettid());
    struct ring_writer ring;

    if (!slot)
        return false;
    record->timestamp_us = clock_now_us();
    open_ring(&ring, slot);
    if (ring_put(&ring, &record->head))
        return true;
    count_refused(&ring);
    return false;
}

bool capture_record(struct feed_timed *record)
{
    bool kept;

    /* As a tick does: who stops the sampler waits for those that saw it run. */
    atomic_fetch_add_explicit(&sampler.handlers, 1, memory_order_seq_cst);
    kept = sampler_running() && put_record(record);
    atomic_fetch_sub_explicit(&sampler.handlers, 1, memory_order_release);
    return kept;
}
