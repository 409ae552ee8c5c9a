#include "target_state.h"

#include "../../capture/system/arch.h"
#include "../../capture/system/clock.h"
#include "../../capture/system/memory.h"
#include "../../feed/feed_count.h"
#include "../../profile/wall/sleeper_scan.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MS_NS                 INT64_C(1000000)
#define FIRST_TABLES_NS       (500 * MS_NS)
#define UNKNOWN_WAIT_LEAST_NS (5 * MS_NS)
#define UNKNOWN_WAIT_MOST_NS  (1000 * MS_NS)

enum { RED_ZONE_MAX = 512 };

static bool is_in_stack(const struct target_sample *sample, uint64_t address)
{
    uint64_t from = sample->stack_at > RED_ZONE_MAX ? sample->stack_at - RED_ZONE_MAX : 0;

    return address >= from && address - from < (UINT64_C(8) << 20);
}

/* The stack by its copy; code and the rest by what is there now. */
static long read_memory(const void *context, void *out, uint64_t address, uint64_t bytes)
{
    struct target *target = (struct target *)context;
    const struct target_sample *sample = target->walked;
    uint64_t in_copy = address - sample->stack_at;

    if (in_copy < sample->stack_bytes) {
        if (bytes > sample->stack_bytes - in_copy)
            bytes = sample->stack_bytes - in_copy;
        memcpy(out, sample->stack + in_copy, bytes);
        return (long)bytes;
    }
    if (is_in_stack(sample, address)) {
        target->beyond = true;
        return -EFAULT;
    }
    return memory_read_some(target->pid, out, address, bytes);
}

struct feed_status *target_status(struct target *target)
{
    return &target->writer.header->status;
}

/* 0: it has ended. */
static uint64_t process_cpu_ns(pid_t pid)
{
    struct timespec used;
    clockid_t clock;

    return clock_getcpuclockid(pid, &clock) == 0 && clock_gettime(clock, &used) == 0
               ? (uint64_t)used.tv_sec * 1000000000 + (uint64_t)used.tv_nsec
               : 0;
}

bool target_open(struct target **out, const struct target_options *options, int *memfd,
                 struct refusal *why)
{
    struct target *target = calloc(1, sizeof(*target));
    int64_t now_ns = (int64_t)clock_ns(CLOCK_MONOTONIC);
    const struct modules_target of = { { options->pid, options->pid, now_ns / 1000 }, 0 };

    if (!target)
        return refusal_say(why, "there is no memory");
    target->pid = options->pid;
    target->opened_ns = now_ns;
    target->unknown_wait_ns = UNKNOWN_WAIT_LEAST_NS;
    if (feed_writer_create(&target->writer, memfd, options->pid, now_ns / 1000) < 0) {
        free(target);
        return refusal_say(why, "there is no memory for the samples of process %d",
                           (int)options->pid);
    }
    /* It stands in no memory of the process's. */
    target->writer.header->head.mapped_at = 0;
    atomic_store(&target_status(target)->outside_timer, options->timer);
    modules_new_of(&target->modules, &of);
    if (options->tables_path)
        shared_tables_open(&target->modules.tables, options->tables_path);
    modules_refresh(&target->modules, &target->writer);
    target->looked_ns = now_ns;
    target->before_ns = process_cpu_ns(options->pid);
    *out = target;
    return true;
}

void target_close(struct target *target)
{
    if (!target)
        return;
    target_threads_end_all(&target->threads, &target->writer);
    atomic_store_explicit(&target_status(target)->stopped, 1, memory_order_release);
    target_threads_free(&target->threads);
    sleeper_scan_free(target->scan);
    modules_free(&target->modules);
    shared_tables_close(&target->modules.tables);
    feed_writer_destroy(&target->writer);
    free(target);
}

pid_t target_pid(const struct target *target)
{
    return target->pid;
}

struct target_wishes target_wishes(const struct target *target)
{
    const struct feed_control *control = &target->writer.header->control;
    uint32_t period_us = atomic_load_explicit(&control->period_us, memory_order_relaxed);

    if (period_us < FEED_PERIOD_MIN_US || period_us > FEED_PERIOD_MAX_US)
        period_us = FEED_PERIOD_DEFAULT_US;
    return (struct target_wishes){
        .enabled = atomic_load_explicit(&control->enabled, memory_order_relaxed),
        .period_us = period_us,
        .wall = atomic_load_explicit(&control->mode, memory_order_relaxed) == FEED_MODE_WALL,
        .off_cpu = atomic_load_explicit(&control->lock_us, memory_order_relaxed) != 0,
    };
}

uint32_t target_thread(struct target *target, pid_t tid)
{
    struct target_thread *thread =
        target_threads_meet(&target->threads, &target->writer, target->pid, tid, true);

    return thread ? thread->slot : 0;
}

void target_thread_name(struct target *target, pid_t tid, const char name[16])
{
    const struct target_thread *thread = target_threads_find(&target->threads, tid);

    if (thread && thread->slot)
        feed_writer_thread_name(&target->writer, thread->slot, name);
}

void target_thread_end(struct target *target, pid_t tid)
{
    target_threads_end(&target->threads, &target->writer, tid);
}

void target_follow_threads(struct target *target, void (*found)(void *context, pid_t tid),
                           void *context)
{
    char path[64];
    struct dirent *entry;
    DIR *tasks;

    snprintf(path, sizeof(path), "/proc/%d/task", (int)target->pid);
    tasks = opendir(path);
    if (!tasks)
        return;
    target_threads_begin_look(&target->threads);
    while ((entry = readdir(tasks))) {
        struct target_thread *thread;

        if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
            continue;
        thread = target_threads_meet(&target->threads, &target->writer, target->pid,
                                     (pid_t)atol(entry->d_name), target->threads_known);
        if (thread)
            thread->seen = true;
        if (thread && found)
            found(context, thread->tid);
    }
    closedir(tasks);
    target_threads_end_look(&target->threads, &target->writer);
    target->threads_known = true;
}

uint32_t target_thread_count(const struct target *target)
{
    return target->threads.live;
}

void target_code_changed(struct target *target)
{
    target->code_changed = true;
}

/* Code that stays unknown is met again and again: then the looks become rare. */
static bool look_is_due(struct target *target, int64_t now_ns)
{
    return target->code_changed ||
           (target->unknown_code && now_ns - target->looked_ns >= target->unknown_wait_ns);
}

/* Once its first thread has ended, the kernel shows nothing of what others still run. */
static bool has_first_thread(const struct target *target)
{
    char path[64], text[512], *end;
    ssize_t got = -1;
    int fd;

    snprintf(path, sizeof(path), "/proc/%d/stat", (int)target->pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        got = read(fd, text, sizeof(text) - 1);
        close(fd);
    }
    text[got > 0 ? got : 0] = '\0';
    end = strrchr(text, ')');
    return end && end[1] && end[2] != 'Z' && end[2] != 'X';
}

static void look_at_code(struct target *target, int64_t now_ns)
{
    uint32_t files = target->modules.file_count;
    bool changed = has_first_thread(target) && modules_refresh(&target->modules, &target->writer);

    if (changed || target->modules.file_count != files)
        target->unknown_wait_ns = UNKNOWN_WAIT_LEAST_NS;
    else if (target->unknown_wait_ns < UNKNOWN_WAIT_MOST_NS)
        target->unknown_wait_ns *= 2;
    target->code_changed = target->unknown_code = false;
    target->looked_ns = now_ns;
}

/* What it used before is nobody's. */
static void tell_cpu_time(struct target *target)
{
    uint64_t used_ns = process_cpu_ns(target->pid);
    struct feed_status *status = target_status(target);

    if (used_ns > target->before_ns)
        atomic_store_explicit(&status->cpu_ns, used_ns - target->before_ns, memory_order_relaxed);
    atomic_store_explicit(&status->table_bytes, target->modules.table_bytes, memory_order_relaxed);
    atomic_store_explicit(&status->modules_live, target->modules.image_count, memory_order_relaxed);
}

void target_follow(struct target *target, int64_t now_ns)
{
    if (look_is_due(target, now_ns))
        look_at_code(target, now_ns);
    modules_take_tables(&target->modules, &target->writer);
    modules_reclaim(&target->modules);
    tell_cpu_time(target);
    atomic_store_explicit(&target_status(target)->live, target->threads.live, memory_order_relaxed);
}

bool target_is_ready(const struct target *target, int64_t now_ns)
{
    return (target->modules.started && !target->modules.tables_to_come) ||
           now_ns - target->opened_ns >= FIRST_TABLES_NS;
}

void target_count_lost(struct target *target, enum feed_loss loss, uint64_t samples)
{
    feed_count(&target_status(target)->lost[loss], samples);
}

bool target_has_runtimes(const struct target *target)
{
    return runtimes_used(&target->writer) &&
           atomic_load_explicit(&target->writer.header->control.wants, memory_order_relaxed) &
               FEED_WANT_RUNTIMES;
}

static struct runtime_scan *begin_scan(struct target *target, uint32_t slot,
                                       uint64_t thread_pointer)
{
    if (thread_pointer)
        atomic_store_explicit(&target->writer.threads[slot].thread_pointer, thread_pointer,
                              memory_order_relaxed);
    return sleeper_scan_begin(sleeper_scan_of(&target->scan, &target->writer), target->pid, slot);
}

/* The leaf is exact; behind it stand return addresses. Half of the frames stay the program's. */
static uint32_t put_kernel(const struct target_sample *from, uint64_t *frames, uint32_t frames_max)
{
    uint32_t count = from->kernel_count < frames_max / 2 ? from->kernel_count : frames_max / 2;

    for (uint32_t i = 0; i < count; i++)
        frames[i] = FEED_FRAME_KERNEL(from->kernel[i] - (i > 0));
    return count;
}

void target_walk(struct target *target, struct target_thread *thread,
                 const struct target_sample *from, uint64_t *frames, struct unwind_result *result)
{
    const uint32_t frames_max = feed_writer_depth_max(&target->writer);
    const uint32_t in_kernel = put_kernel(from, frames, frames_max);
    const struct stack_range nowhere = { 0 };
    const struct unwind_request request = {
        .scan = from->still ? begin_scan(target, thread->slot, from->thread_pointer) : NULL,
        .map = atomic_load_explicit(&target->modules.maps.current, memory_order_acquire),
        .stack = &nowhere,
        .outer_frames = &thread->outer_frames,
        .frames_max = frames_max - in_kernel,
    };

    target->walked = from;
    target->beyond = false;
    target->sleeper = (struct unwind_sleeper){ .pid = target->pid,
                                               .read = read_memory,
                                               .read_context = target,
                                               .registers = from->registers };
    unwind_asleep(&request, &target->sleeper, frames + in_kernel, result);
    result->depth += in_kernel;
    target->unknown_code |= result->unknown_code;
}

static void fill(struct target *target, struct target_thread *thread,
                 const struct target_sample *from, struct feed_sample *sample,
                 const struct unwind_result *result)
{
    struct target_weight weight =
        target_threads_weigh(thread, &target->writer, target->pid, target_wishes(target).wall,
                             target_wishes(target).period_us);
    uint64_t samples = 1 + (uint64_t)weight.more_running + weight.more_runnable;

    *sample = (struct feed_sample){
        .head = { .size_bytes = (uint32_t)(sizeof(*sample) + result->depth * sizeof(uint64_t)),
                  .type = FEED_RECORD_SAMPLE },
        .timestamp_us = from->at_ns / 1000,
        .cpu_ns = weight.cpu_ns,
        .depth = (uint16_t)result->depth,
        .end = (uint8_t)result->end,
        .state = (uint8_t)weight.state,
        .more_running = weight.more_running,
        .more_runnable = weight.more_runnable,
        .kind = (uint16_t)weight.kind,
    };
    feed_count(&target_status(target)->sampled_ns, weight.cpu_ns);
    feed_count(&target_status(target)->ends[result->end], samples);
    feed_count(&target_status(target)->delivered, samples);
    feed_count(&target_status(target)->ticks, 1);
}

enum target_outcome target_outcome_of(const struct target *target,
                                      const struct unwind_result *result)
{
    return result->end == FEED_END_ROOT                      ? TARGET_WHOLE
           : target->beyond && result->end == FEED_END_STACK ? TARGET_CUT
                                                             : TARGET_ENDED_EARLY;
}

enum target_outcome target_sample(struct target *target, const struct target_sample *from)
{
    struct target_thread *thread =
        target_threads_meet(&target->threads, &target->writer, target->pid, from->tid, false);
    struct unwind_result result;
    struct feed_sample *sample;
    struct ring_writer ring;

    if (!thread || !thread->slot)
        return TARGET_LOST;
    if (!atomic_load_explicit(&target->modules.maps.current, memory_order_relaxed)) {
        target_count_lost(target, FEED_LOSS_NO_TABLES, 1);
        return TARGET_LOST;
    }
    feed_writer_ring(&target->writer, thread->slot, &ring);
    sample =
        ring_reserve(&ring, (uint32_t)(sizeof(*sample) +
                                       feed_writer_depth_max(&target->writer) * sizeof(uint64_t)));
    if (!sample) {
        target_count_lost(target, FEED_LOSS_RING_FULL, 1);
        return TARGET_LOST;
    }
    target_walk(target, thread, from, sample->frames, &result);
    fill(target, thread, from, sample, &result);
    ring_commit(&ring);
    return target_outcome_of(target, &result);
}

uint64_t target_stack_pointer(const ucontext_t *registers)
{
    return arch_register(registers, ARCH_SP);
}

void target_begin_heap(struct target *target)
{
    target->heap++;
}

void target_expect(struct target *target, pid_t tid)
{
    struct target_thread *thread =
        target_threads_meet(&target->threads, &target->writer, target->pid, tid, false);

    if (thread && thread->slot)
        target_threads_expect(thread, target->pid, target->heap);
}

uint64_t target_unsampled_ns(struct target *target, pid_t tid)
{
    struct target_thread *thread = target_threads_find(&target->threads, tid);

    return thread && thread->slot ? target_threads_used(thread, target->pid) : 0;
}
