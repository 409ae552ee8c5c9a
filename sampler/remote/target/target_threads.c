#include "target_threads.h"

#include "../../capture/wall/answer.h"
#include "../../feed/feed_count.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { ROOM_FIRST = 16, TEXT_BYTES = 64, MORE_MAX = UINT8_MAX };

static int64_t now_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000) + now.tv_nsec / 1000;
}

/* Returns bytes, 0-terminated; 0: it cannot be read. */
static size_t read_once(const char *path, char *out, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = -1;

    if (fd >= 0) {
        got = read(fd, out, size - 1);
        close(fd);
    }
    out[got > 0 ? got : 0] = '\0';
    return got > 0 ? (size_t)got : 0;
}

static void name_thread(struct feed_writer *writer, uint32_t slot, pid_t pid, pid_t tid)
{
    char path[64], name[TEXT_BYTES] = "";

    snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", (int)pid, (int)tid);
    if (!read_once(path, name, 17))
        return;
    memset(name + strcspn(name, "\n"), 0, sizeof(name) - strcspn(name, "\n"));
    feed_writer_thread_name(writer, slot, name);
}

static uint32_t claim(struct feed_writer *writer, pid_t pid, pid_t tid)
{
    uint32_t slot = feed_writer_thread_claim(writer, tid, now_us());

    if (!slot) {
        feed_count(&writer->header->status.lost[FEED_LOSS_NO_SLOT], 1);
        return 0;
    }
    name_thread(writer, slot, pid, tid);
    feed_writer_thread_publish(writer, slot);
    return slot;
}

/* Its run time is the first number of schedstat. Kept open: it is read for each sample. */
static void ask_used(struct target_thread *thread, pid_t pid)
{
    char text[TEXT_BYTES], path[64];
    ssize_t got;

    if (!thread->clock_file) {
        snprintf(path, sizeof(path), "/proc/%d/task/%d/schedstat", (int)pid, (int)thread->tid);
        thread->clock_file = open(path, O_RDONLY | O_CLOEXEC) + 1;
    }
    got = thread->clock_file ? pread(thread->clock_file - 1, text, sizeof(text) - 1, 0) : -1;
    thread->clock_gone = got <= 0;
    if (got <= 0)
        return;
    text[got] = '\0';
    thread->used_ns = strtoull(text, NULL, 10);
}

static struct target_thread *free_place(struct target_threads *threads)
{
    struct target_thread *grown;
    uint32_t room = threads->room ? 2 * threads->room : ROOM_FIRST;

    if (threads->live < threads->count)
        for (uint32_t i = 0; i < threads->count; i++)
            if (!threads->list[i].tid)
                return &threads->list[i];
    if (threads->count == threads->room) {
        grown = reallocarray(threads->list, room, sizeof(*grown));
        if (!grown)
            return NULL;
        threads->list = grown;
        threads->room = room;
    }
    return &threads->list[threads->count++];
}

struct target_thread *target_threads_find(struct target_threads *threads, pid_t tid)
{
    uint32_t place = map64_find(&threads->places, (uint64_t)tid);

    return place ? &threads->list[place - 1] : NULL;
}

struct target_thread *target_threads_meet(struct target_threads *threads,
                                          struct feed_writer *writer, pid_t pid, pid_t tid,
                                          bool born)
{
    struct target_thread *thread = target_threads_find(threads, tid);
    uint32_t *place;
    bool added;

    if (thread)
        return thread;
    thread = free_place(threads);
    place = thread ? map64_put(&threads->places, (uint64_t)tid, &added) : NULL;
    if (!place)
        return NULL;
    *thread = (struct target_thread){ .tid = tid, .slot = claim(writer, pid, tid) };
    *place = (uint32_t)(thread - threads->list) + 1;
    threads->live++;
    ask_used(thread, pid);
    thread->told_ns = born ? 0 : thread->used_ns;
    return thread;
}

static void end(struct target_threads *threads, struct feed_writer *writer,
                struct target_thread *thread)
{
    bool added;
    uint32_t *place = map64_put(&threads->places, (uint64_t)thread->tid, &added);

    if (place)
        *place = 0;
    if (thread->slot)
        feed_writer_thread_end(writer, thread->slot);
    if (thread->clock_file)
        close(thread->clock_file - 1);
    free(thread->wait);
    *thread = (struct target_thread){ 0 };
    threads->live--;
}

void target_threads_end(struct target_threads *threads, struct feed_writer *writer, pid_t tid)
{
    struct target_thread *thread = target_threads_find(threads, tid);

    if (thread)
        end(threads, writer, thread);
}

void target_threads_end_all(struct target_threads *threads, struct feed_writer *writer)
{
    for (uint32_t i = 0; i < threads->count; i++)
        if (threads->list[i].tid)
            end(threads, writer, &threads->list[i]);
}

void target_threads_begin_look(struct target_threads *threads)
{
    for (uint32_t i = 0; i < threads->count; i++)
        threads->list[i].seen = false;
}

void target_threads_end_look(struct target_threads *threads, struct feed_writer *writer)
{
    for (uint32_t i = 0; i < threads->count; i++)
        if (threads->list[i].tid && !threads->list[i].seen)
            end(threads, writer, &threads->list[i]);
}

void target_threads_free(struct target_threads *threads)
{
    for (uint32_t i = 0; i < threads->count; i++) {
        if (threads->list[i].clock_file)
            close(threads->list[i].clock_file - 1);
        free(threads->list[i].wait);
    }
    free(threads->list);
    map64_free(&threads->places);
    *threads = (struct target_threads){ 0 };
}

uint64_t target_threads_used(struct target_thread *thread, pid_t pid)
{
    ask_used(thread, pid);
    return thread->clock_gone ? 0 : thread->used_ns - thread->told_ns;
}

void target_threads_expect(struct target_thread *thread, pid_t pid, uint32_t heap)
{
    if (thread->heap != heap)
        thread->expected = 0; /* those of the heap before were lost */
    thread->heap = heap;
    if (!thread->expected++)
        ask_used(thread, pid);
}

static uint16_t more_periods(struct target_thread *thread, uint64_t cpu_ns, uint32_t period_us)
{
    uint64_t period_ns = period_us * UINT64_C(1000), all_ns = cpu_ns + thread->carry_ns;
    uint64_t periods = all_ns / period_ns;

    if (periods > MORE_MAX)
        periods = MORE_MAX;
    thread->carry_ns = all_ns - periods * period_ns;
    if (thread->carry_ns > period_ns)
        thread->carry_ns = period_ns;
    return (uint16_t)(periods ? periods - 1 : 0);
}

struct target_weight target_threads_weigh(struct target_thread *thread, struct feed_writer *writer,
                                          pid_t pid, bool wall, uint32_t period_us)
{
    struct sample_weight rounds = { .state = FEED_STATE_RUNNING };
    struct target_weight weight = { .state = FEED_STATE_RUNNING };

    if (!thread->expected)
        target_threads_expect(thread, pid, thread->heap);
    weight.cpu_ns = thread->clock_gone ? period_us * UINT64_C(1000)
                                       : (thread->used_ns - thread->told_ns) / thread->expected;
    thread->expected--;
    if (!thread->clock_gone)
        thread->told_ns += weight.cpu_ns;
    if (wall) {
        wall_answer(&rounds, &writer->threads[thread->slot]);
        weight.kind = FEED_KIND_WALL;
        weight.more_running = rounds.more_running;
        weight.more_runnable = rounds.more_runnable;
        weight.state = (enum feed_state)rounds.state;
        return weight;
    }
    weight.kind = FEED_KIND_CPU;
    weight.more_running = more_periods(thread, weight.cpu_ns, period_us);
    return weight;
}
