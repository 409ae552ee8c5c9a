#include "unwatched.h"

#include "../../include/isoscope/isoscope.h"
#include "../outside/thread_names.h"
#include "../wall/rounds.h"
#include "../wall/sleeper.h"
#include "../wall/subject.h"
#include "system_calls.h"

#include <dirent.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int64_t PERIOD_MIN_NS = 1000 * 1000 * 1000, PERIOD_MAX_NS = 10 * PERIOD_MIN_NS;

/* A thread that was met in a wait of its own at the last look. */
struct met {
    int32_t tid; /* here */
    uint32_t looks;
    const struct system_call *call;
};

struct unwatched {
    struct subject *subject;
    uint64_t process_id;
    int64_t due_ns, period_ns;
    struct met met[UNWATCHED_MAX];
    uint32_t met_count;

    pthread_mutex_t lock; /* guards the rest */
    struct unwatched_thread told[UNWATCHED_MAX];
    uint32_t told_count;
};

int unwatched_new(struct unwatched **out, struct subject *subject, uint64_t process_id)
{
    struct unwatched *unwatched = calloc(1, sizeof(*unwatched));

    if (!unwatched)
        return -ISOSCOPE_NO_MEMORY;
    pthread_mutex_init(&unwatched->lock, NULL);
    unwatched->subject = subject;
    unwatched->process_id = process_id;
    unwatched->period_ns = PERIOD_MIN_NS;
    *out = unwatched;
    return 0;
}

void unwatched_free(struct unwatched *unwatched)
{
    if (!unwatched)
        return;
    pthread_mutex_destroy(&unwatched->lock);
    free(unwatched);
}

/* ---- one thread ---- */

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static bool begins(const char *text, const char *with)
{
    return !strncmp(text, with, strlen(with));
}

/* The name of the module that has the code; "": none has. */
static void module_at(struct subject *subject, const struct round *round, uint64_t pc, char *out,
                      size_t bytes)
{
    const struct code_range *range = code_map_find(round->map, pc);
    struct feed_module_view module;

    out[0] = 0;
    if (range && program_code_module(&subject->code, range->number, &module))
        snprintf(out, bytes, "%s", last_part(module.path));
}

/* The wrapper's function stands before this one. */
static bool is_wrapped(const struct system_call *call, const char *module)
{
    if (begins(module, "liburing"))
        return true;
    return strcmp(call->name, "io_uring_enter") != 0 &&
           (begins(module, "libc.") || begins(module, "libc-") || begins(module, "ld-musl"));
}

/* NULL: it does not wait for descriptors past the wrappers. */
static const struct system_call *own_wait(struct subject *subject, struct round *round, int32_t tid)
{
    struct sleeper once = { .tid = tid, .switches = { -1, NULL } };
    const struct system_call *call = NULL;
    struct blocked blocked;
    char module[64];

    if (sleeper_see(&once, round, &blocked) == SLEEPER_ASLEEP && blocked.number >= 0)
        call = system_call_of(blocked.number);
    sleeper_forget(&once);
    if (!call || !call->descriptors)
        return NULL;
    module_at(subject, round, blocked.pc, module, sizeof(module));
    return is_wrapped(call, module) ? NULL : call;
}

/* ---- all of them ---- */

static bool has_loop(const struct round *round, int32_t tid)
{
    const struct feed_writer *writer = round->writer;
    uint32_t used = atomic_load_explicit(&writer->header->status.loops_used, memory_order_acquire);

    for (uint32_t i = 1; i < used && i < FEED_LOOPS_MAX && writer->loops; i++)
        if (atomic_load_explicit(&writer->loops[i].state, memory_order_acquire) == FEED_LOOP_LIVE &&
            atomic_load_explicit(&writer->loops[i].tid, memory_order_relaxed) == tid)
            return true;
    return false;
}

/* As the program numbers it. */
static int32_t own_number(const struct round *round, int32_t tid)
{
    return round->pid == round->writer->header->head.pid ? tid : task_number_there(round->pid, tid);
}

static uint32_t looks_before(const struct unwatched *unwatched, int32_t tid,
                             const struct system_call *call)
{
    for (uint32_t i = 0; i < unwatched->met_count; i++)
        if (unwatched->met[i].tid == tid && unwatched->met[i].call == call)
            return unwatched->met[i].looks;
    return 0;
}

static uint32_t meet_all(struct unwatched *unwatched, struct round *round, struct met *out)
{
    uint32_t count = 0, looked = 0;
    struct dirent *entry;
    char path[64];
    DIR *tasks;

    snprintf(path, sizeof(path), "/proc/%" PRId32 "/task", round->pid);
    tasks = opendir(path);
    while (tasks && count < UNWATCHED_MAX && looked < UNWATCHED_THREADS_MAX &&
           (entry = readdir(tasks))) {
        int32_t tid = atoi(entry->d_name);
        const struct system_call *call = tid ? own_wait(unwatched->subject, round, tid) : NULL;

        looked += tid != 0;
        if (call && !has_loop(round, own_number(round, tid)))
            out[count++] = (struct met){ tid, 1 + looks_before(unwatched, tid, call), call };
    }
    if (tasks)
        closedir(tasks);
    return count;
}

/* Returns how many there are to tell. */
static uint32_t describe(const struct unwatched *unwatched, const struct round *round,
                         struct unwatched_thread *out)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < unwatched->met_count; i++) {
        const struct met *met = &unwatched->met[i];
        struct unwatched_thread *thread = &out[count];

        if (met->looks < UNWATCHED_LOOKS)
            continue;
        *thread = (struct unwatched_thread){ .process_id = unwatched->process_id,
                                             .tid = own_number(round, met->tid) };
        snprintf(thread->system_call, sizeof(thread->system_call), "%s", met->call->name);
        thread_name_read(round->pid, met->tid, thread->name);
        count++;
    }
    return count;
}

static bool are_same(const struct unwatched_thread *left, const struct unwatched_thread *right,
                     uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (left[i].tid != right[i].tid || strcmp(left[i].name, right[i].name) != 0 ||
            strcmp(left[i].system_call, right[i].system_call) != 0)
            return false;
    return true;
}

static bool tell(struct unwatched *unwatched, const struct unwatched_thread *threads,
                 uint32_t count)
{
    bool changed;

    pthread_mutex_lock(&unwatched->lock);
    changed = count != unwatched->told_count || !are_same(threads, unwatched->told, count);
    memcpy(unwatched->told, threads, count * sizeof(*threads));
    unwatched->told_count = count;
    pthread_mutex_unlock(&unwatched->lock);
    return changed;
}

/* Its code is known, and somebody wants its loops. */
static bool is_watching(const struct round *round)
{
    const struct feed_control *control = &round->writer->header->control;

    return round->map &&
           atomic_load_explicit(&control->watch_loops, memory_order_relaxed) != FEED_WATCH_NONE;
}

/* Many programs live for less than the first of them. */
static bool is_due(struct unwatched *unwatched, int64_t now_ns)
{
    bool began = unwatched->due_ns != 0;

    if (now_ns < unwatched->due_ns)
        return false;
    unwatched->due_ns = now_ns + unwatched->period_ns;
    unwatched->period_ns *= 2;
    if (unwatched->period_ns > PERIOD_MAX_NS)
        unwatched->period_ns = PERIOD_MAX_NS;
    return began;
}

bool unwatched_look(struct unwatched *unwatched, int64_t now_ns)
{
    struct unwatched_thread threads[UNWATCHED_MAX];
    struct met met[UNWATCHED_MAX];
    struct round *round;
    uint32_t count;

    if (!is_due(unwatched, now_ns))
        return false;
    round = rounds_begin_look(unwatched->subject, now_ns / 1000);
    if (!round)
        return false;
    unwatched->met_count = is_watching(round) ? meet_all(unwatched, round, met) : 0;
    memcpy(unwatched->met, met, unwatched->met_count * sizeof(*met));
    count = describe(unwatched, round, threads);
    rounds_end_look(unwatched->subject);
    return tell(unwatched, threads, count);
}

size_t unwatched_list(struct unwatched *unwatched, struct unwatched_thread *out, size_t capacity)
{
    size_t count;

    pthread_mutex_lock(&unwatched->lock);
    count = unwatched->told_count;
    for (size_t i = 0; i < count && i < capacity; i++)
        out[i] = unwatched->told[i];
    pthread_mutex_unlock(&unwatched->lock);
    return count;
}
