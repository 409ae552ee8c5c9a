#include "symbolizer.h"

#include "../../include/isoscope/isoscope.h"
#include "../base/thread.h"
#include "../store/frame.h"
#include "../symbols/files/symbol_server.h"
#include "jobs.h"
#include "open_lines.h"
#include "resolve.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TELL_MS = 100 }; /* of progress, while there is more to do */

struct symbolizer {
    struct symbolizer_options options;
    struct symbol_server *server; /* NULL: none is asked */
    pthread_t worker;
    pthread_mutex_t lock; /* guards the rest */
    pthread_cond_t wake;
    bool started, stopping;
    struct jobs jobs;

    struct open_lines
        *lines;      /* the worker's; the caller's under the lock, before symbolizer_start */
    int64_t told_ms; /* the worker's */
};

int symbolizer_new(struct symbolizer **out, const struct symbolizer_options *options)
{
    struct symbolizer *symbolizer = calloc(1, sizeof(*symbolizer));
    int error = symbolizer ? open_lines_new(&symbolizer->lines, OPEN_LINES_BYTES_DEFAULT)
                           : -ISOSCOPE_NO_MEMORY;

    if (!error && options->ask_servers)
        error = symbol_server_new(&symbolizer->server);
    if (error) {
        if (symbolizer)
            open_lines_free(symbolizer->lines);
        free(symbolizer);
        return error;
    }
    symbolizer->options = *options;
    pthread_mutex_init(&symbolizer->lock, NULL);
    pthread_cond_init(&symbolizer->wake, NULL);
    *out = symbolizer;
    return 0;
}

static struct module_file file_of(const struct symbolizer *symbolizer, const struct module *module)
{
    return (struct module_file){
        .path = module->path,
        .build_id = module->build_id,
        .build_id_bytes = module->build_id_bytes,
        .pid = atomic_load_explicit(&module->pid, memory_order_acquire),
        .address = atomic_load_explicit(&module->address, memory_order_relaxed),
        .server = symbolizer->server,
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

static void read_names(const struct symbolizer *symbolizer, struct module *module)
{
    struct module_file file = file_of(symbolizer, module);

    if (is_read(module))
        return;
    symbols_read(&module->symbols, &file);
    atomic_store_explicit(&module->names, MODULE_NAMES_READ, memory_order_release);
}

static void resolve(struct symbolizer *symbolizer, uint64_t frame)
{
    struct module *module = registry_module(symbolizer->options.registry, FRAME_KEY_MODULE(frame));
    struct chain_frame chain[INLINE_CHAIN_MAX];
    struct module_file file;
    struct lines *lines;
    uint32_t count;

    read_names(symbolizer, module);
    file = file_of(symbolizer, module);
    lines = symbolizer->options.names_only ? NULL : open_lines_of(symbolizer->lines, module, &file);
    count =
        resolve_chain(symbolizer->options.functions, module, lines, FRAME_KEY_OFFSET(frame), chain);
    /* Without memory it is as if nobody had asked: somebody will, again. */
    inline_chains_put(symbolizer->options.chains, frame, chain, count);
}

static void read_code(struct symbolizer *symbolizer, struct code_request *request)
{
    struct module_file file = file_of(symbolizer, request->module);

    read_names(symbolizer, request->module);
    code_request_read(request, symbolizer->options.functions, &file,
                      open_lines_of(symbolizer->lines, request->module, &file));
}

/* The next two: symbolizer->lock is held. */

static void ask_for_module(struct symbolizer *symbolizer, struct module *module)
{
    if (jobs_add_module(&symbolizer->jobs, module))
        pthread_cond_signal(&symbolizer->wake);
}

static int ask_for_frame(struct symbolizer *symbolizer, uint64_t frame)
{
    struct module *module = registry_module(symbolizer->options.registry, FRAME_KEY_MODULE(frame));

    if (!jobs_add_frame(&symbolizer->jobs, module, frame) ||
        inline_chains_mark_asked(symbolizer->options.chains, frame) < 0)
        return -ISOSCOPE_NO_MEMORY;
    return 0;
}

/* The worker. */

/* False: the worker ends. */
static bool wait_for_job(struct symbolizer *symbolizer, struct job *job)
{
    bool going;

    pthread_mutex_lock(&symbolizer->lock);
    while ((going = !symbolizer->stopping) && !jobs_take(&symbolizer->jobs, job))
        pthread_cond_wait(&symbolizer->wake, &symbolizer->lock);
    pthread_mutex_unlock(&symbolizer->lock);
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
static bool finish_module(struct symbolizer *symbolizer, struct module *module)
{
    bool idle, stopping;

    pthread_mutex_lock(&symbolizer->lock);
    jobs_finish(&symbolizer->jobs, module);
    idle = jobs_idle(&symbolizer->jobs);
    stopping = symbolizer->stopping;
    pthread_mutex_unlock(&symbolizer->lock);
    if (symbolizer->options.changed && (idle || now_ms() - symbolizer->told_ms >= TELL_MS)) {
        symbolizer->told_ms = now_ms();
        symbolizer->options.changed(symbolizer->options.context);
    }
    return !stopping;
}

static int by_address(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;

    return *a < *b ? -1 : *a > *b;
}

/* In the order of addresses: each module's debug data is then read once, unit after unit. */
static bool resolve_all(struct symbolizer *symbolizer, const struct job_frames *wanted)
{
    qsort(wanted->frames, wanted->count, sizeof(*wanted->frames), by_address);
    for (uint32_t i = 0; i < wanted->count; i++) {
        resolve(symbolizer, wanted->frames[i]);
        if (!finish_module(symbolizer, registry_module(symbolizer->options.registry,
                                                       FRAME_KEY_MODULE(wanted->frames[i]))))
            return false;
    }
    return true;
}

static void *run(void *argument)
{
    struct symbolizer *symbolizer = argument;
    struct job job = { 0 };
    bool going = true;

    pthread_setname_np(pthread_self(), "iso-symbols");
    while (going && wait_for_job(symbolizer, &job)) {
        if (job.module) {
            read_names(symbolizer, job.module);
            going = finish_module(symbolizer, job.module);
        } else if (job.code) {
            read_code(symbolizer, job.code);
            going = finish_module(symbolizer, job.code->module);
        } else {
            going = resolve_all(symbolizer, &job.frames);
        }
        code_request_release(job.code);
        free(job.frames.frames);
    }
    return NULL;
}

int symbolizer_start(struct symbolizer *symbolizer)
{
    int error = thread_start(&symbolizer->worker, run, symbolizer);

    pthread_mutex_lock(&symbolizer->lock);
    symbolizer->started = !error;
    pthread_mutex_unlock(&symbolizer->lock);
    return error;
}

void symbolizer_free(struct symbolizer *symbolizer)
{
    bool started;

    if (!symbolizer)
        return;
    symbol_server_cancel(symbolizer->server);
    pthread_mutex_lock(&symbolizer->lock);
    symbolizer->stopping = true;
    started = symbolizer->started;
    pthread_cond_signal(&symbolizer->wake);
    pthread_mutex_unlock(&symbolizer->lock);
    if (started)
        pthread_join(symbolizer->worker, NULL);
    pthread_cond_destroy(&symbolizer->wake);
    pthread_mutex_destroy(&symbolizer->lock);
    jobs_free(&symbolizer->jobs);
    open_lines_free(symbolizer->lines);
    symbol_server_free(symbolizer->server);
    free(symbolizer);
}

void symbolizer_expect(struct symbolizer *symbolizer, struct module *module)
{
    pthread_mutex_lock(&symbolizer->lock);
    if (symbolizer->started && !symbolizer->options.off && is_unread(module))
        ask_for_module(symbolizer, module);
    pthread_mutex_unlock(&symbolizer->lock);
}

int symbolizer_want_frames(struct symbolizer *symbolizer, const uint64_t *frames, uint32_t count)
{
    int result = 0;

    pthread_mutex_lock(&symbolizer->lock);
    for (uint32_t i = 0; i < count && result >= 0; i++) {
        if (symbolizer->started) {
            result = ask_for_frame(symbolizer, frames[i]);
        } else {
            resolve(symbolizer, frames[i]);
            result = 1;
        }
    }
    pthread_cond_signal(&symbolizer->wake);
    pthread_mutex_unlock(&symbolizer->lock);
    return result;
}

void symbolizer_want_code(struct symbolizer *symbolizer, struct code_request *request)
{
    pthread_mutex_lock(&symbolizer->lock);
    if (symbolizer->started) {
        jobs_add_code(&symbolizer->jobs, code_request_hold(request));
        pthread_cond_signal(&symbolizer->wake);
    } else {
        read_code(symbolizer, request);
    }
    pthread_mutex_unlock(&symbolizer->lock);
}

struct symbolizer_progress symbolizer_progress(struct symbolizer *symbolizer)
{
    struct symbolizer_progress progress;

    pthread_mutex_lock(&symbolizer->lock);
    progress = (struct symbolizer_progress){ symbolizer->jobs.done, symbolizer->jobs.asked,
                                             symbolizer->jobs.finished };
    pthread_mutex_unlock(&symbolizer->lock);
    return progress;
}
