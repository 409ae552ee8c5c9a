#include "namer.h"

#include "../../include/isoscope/isoscope.h"
#include "../frame.h"
#include "jobs.h"
#include "open_lines.h"
#include "resolve.h"
#include "../symbols/files/symbol_server.h"
#include "../thread.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TELL_MS = 100 }; /* of progress, while there is more to do */

struct namer {
    struct namer_options options;
    struct symbol_server *server; /* NULL: none is asked */
    pthread_t worker;
    pthread_mutex_t lock; /* guards the rest */
    pthread_cond_t wake;
    bool started, stopping;
    struct jobs jobs;

    struct open_lines *lines; /* the worker's; the caller's under the lock, before namer_start */
    int64_t told_ms;          /* the worker's */
};

int namer_new(struct namer **out, const struct namer_options *options)
{
    struct namer *namer = calloc(1, sizeof(*namer));
    int error =
        namer ? open_lines_new(&namer->lines, OPEN_LINES_BYTES_DEFAULT) : -ISOSCOPE_NO_MEMORY;

    if (!error && options->ask_servers)
        error = symbol_server_new(&namer->server);
    if (error) {
        if (namer)
            open_lines_free(namer->lines);
        free(namer);
        return error;
    }
    namer->options = *options;
    pthread_mutex_init(&namer->lock, NULL);
    pthread_cond_init(&namer->wake, NULL);
    *out = namer;
    return 0;
}

static struct module_file file_of(const struct namer *namer, const struct module *module)
{
    return (struct module_file){
        .path = module->path,
        .build_id = module->build_id,
        .build_id_bytes = module->build_id_bytes,
        .pid = atomic_load_explicit(&module->pid, memory_order_acquire),
        .address = atomic_load_explicit(&module->address, memory_order_relaxed),
        .server = namer->server,
    };
}

static bool is_read(const struct module *module)
{
    return atomic_load_explicit(&module->names, memory_order_acquire) == MODULE_NAMES_READ;
}

static bool is_unread(const struct module *module)
{
    return atomic_load_explicit(&module->names, memory_order_relaxed) == MODULE_NAMES_UNREAD;
}

static void read_names(const struct namer *namer, struct module *module)
{
    struct module_file file = file_of(namer, module);

    if (is_read(module))
        return;
    symbols_read(&module->symbols, &file);
    atomic_store_explicit(&module->names, MODULE_NAMES_READ, memory_order_release);
}

static void resolve(struct namer *namer, uint64_t frame)
{
    struct module *module = registry_module(namer->options.registry, PROFILE_FRAME_MODULE(frame));
    struct chain_frame chain[CHAIN_MAX];
    struct module_file file;
    struct lines *lines;
    uint32_t count;

    read_names(namer, module);
    file = file_of(namer, module);
    lines = open_lines_of(namer->lines, module, &file);
    count =
        resolve_chain(namer->options.functions, module, lines, PROFILE_FRAME_OFFSET(frame), chain);
    /* Without memory it is as if nobody had asked: somebody will, again. */
    chains_put(namer->options.chains, frame, chain, count);
}

/* The next two: namer->lock is held. */

static void ask_for_module(struct namer *namer, struct module *module)
{
    if (jobs_add_module(&namer->jobs, module))
        pthread_cond_signal(&namer->wake);
}

static int ask_for_frame(struct namer *namer, uint64_t frame)
{
    struct module *module = registry_module(namer->options.registry, PROFILE_FRAME_MODULE(frame));

    if (!jobs_add_frame(&namer->jobs, module, frame) ||
        chains_mark_asked(namer->options.chains, frame) < 0)
        return -ISOSCOPE_NO_MEMORY;
    return 0;
}

/* The worker. */

/* False: the worker ends. */
static bool wait_for_job(struct namer *namer, struct job *job)
{
    bool going;

    pthread_mutex_lock(&namer->lock);
    while ((going = !namer->stopping) && !jobs_take(&namer->jobs, job))
        pthread_cond_wait(&namer->wake, &namer->lock);
    pthread_mutex_unlock(&namer->lock);
    return going;
}

static int64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000) + now.tv_nsec / 1000000;
}

/* A job is done. False: the worker has to end. Whoever is told looks at a whole window again, so it
 * is told when all is done, and now and then before. */
static bool finish(struct namer *namer, struct module *module)
{
    bool idle, stopping;

    pthread_mutex_lock(&namer->lock);
    jobs_finish(&namer->jobs, module);
    idle = jobs_idle(&namer->jobs);
    stopping = namer->stopping;
    pthread_mutex_unlock(&namer->lock);
    if (namer->options.changed && (idle || now_ms() - namer->told_ms >= TELL_MS)) {
        namer->told_ms = now_ms();
        namer->options.changed(namer->options.context);
    }
    return !stopping;
}

static int by_address(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;

    return *a < *b ? -1 : *a > *b;
}

/* In the order of addresses: each module's debug data is then read once, unit after unit. */
static bool resolve_all(struct namer *namer, const struct job_frames *wanted)
{
    qsort(wanted->frames, wanted->count, sizeof(*wanted->frames), by_address);
    for (uint32_t i = 0; i < wanted->count; i++) {
        resolve(namer, wanted->frames[i]);
        if (!finish(namer, registry_module(namer->options.registry,
                                           PROFILE_FRAME_MODULE(wanted->frames[i]))))
            return false;
    }
    return true;
}

static void *run(void *argument)
{
    struct namer *namer = argument;
    struct job job = { 0 };
    bool going = true;

    pthread_setname_np(pthread_self(), "iso-symbols");
    while (going && wait_for_job(namer, &job)) {
        if (job.module) {
            read_names(namer, job.module);
            going = finish(namer, job.module);
        } else {
            going = resolve_all(namer, &job.frames);
        }
        free(job.frames.frames);
    }
    return NULL;
}

int namer_start(struct namer *namer)
{
    int error = thread_start(&namer->worker, run, namer);

    pthread_mutex_lock(&namer->lock);
    namer->started = !error;
    pthread_mutex_unlock(&namer->lock);
    return error;
}

void namer_free(struct namer *namer)
{
    bool started;

    if (!namer)
        return;
    symbol_server_cancel(namer->server);
    pthread_mutex_lock(&namer->lock);
    namer->stopping = true;
    started = namer->started;
    pthread_cond_signal(&namer->wake);
    pthread_mutex_unlock(&namer->lock);
    if (started)
        pthread_join(namer->worker, NULL);
    pthread_cond_destroy(&namer->wake);
    pthread_mutex_destroy(&namer->lock);
    jobs_free(&namer->jobs);
    open_lines_free(namer->lines);
    symbol_server_free(namer->server);
    free(namer);
}

bool namer_want(struct namer *namer, struct module *module)
{
    if (is_read(module))
        return true;
    pthread_mutex_lock(&namer->lock);
    if (is_unread(module)) {
        if (namer->started)
            ask_for_module(namer, module);
        else
            read_names(namer, module);
    }
    pthread_mutex_unlock(&namer->lock);
    return is_read(module);
}

void namer_expect(struct namer *namer, struct module *module)
{
    pthread_mutex_lock(&namer->lock);
    if (namer->started && !namer->options.off && is_unread(module))
        ask_for_module(namer, module);
    pthread_mutex_unlock(&namer->lock);
}

int namer_want_frames(struct namer *namer, const uint64_t *frames, uint32_t count)
{
    int result = 0;

    pthread_mutex_lock(&namer->lock);
    for (uint32_t i = 0; i < count && result >= 0; i++) {
        if (namer->started) {
            result = ask_for_frame(namer, frames[i]);
        } else {
            resolve(namer, frames[i]);
            result = 1;
        }
    }
    pthread_cond_signal(&namer->wake);
    pthread_mutex_unlock(&namer->lock);
    return result;
}

struct namer_progress namer_progress(struct namer *namer)
{
    struct namer_progress progress;

    pthread_mutex_lock(&namer->lock);
    progress = (struct namer_progress){ namer->jobs.done, namer->jobs.asked, namer->jobs.finished };
    pthread_mutex_unlock(&namer->lock);
    return progress;
}
