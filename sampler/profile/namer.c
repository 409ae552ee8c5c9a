#include "namer.h"

#include "../include/isoscope/isoscope.h"
#include "symbols/symbol_server.h"
#include "thread.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct namer {
    void (*changed)(void *context);
    void *context;
    struct symbol_server *server; /* NULL: none is asked */
    pthread_t worker;
    pthread_mutex_t lock; /* guards the rest */
    pthread_cond_t wake;
    bool started, stopping;
    struct module *queue[MODULES_MAX]; /* a ring: each module waits at most once */
    uint32_t first, count;
};

int namer_new(struct namer **out, const struct namer_options *options)
{
    struct namer *namer = calloc(1, sizeof(*namer));
    int error = namer ? 0 : -ISOSCOPE_NO_MEMORY;

    if (namer && options->ask_servers)
        error = symbol_server_new(&namer->server);
    if (error) {
        free(namer);
        return error;
    }
    namer->changed = options->changed;
    namer->context = options->context;
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

static void read_names(const struct namer *namer, struct module *module)
{
    struct module_file file = file_of(namer, module);

    symbols_read(&module->symbols, &file);
    atomic_store_explicit(&module->names, MODULE_NAMES_READ, memory_order_release);
}

/* NULL: the worker ends. */
static struct module *wait_for_module(struct namer *namer)
{
    struct module *module = NULL;

    pthread_mutex_lock(&namer->lock);
    while (!namer->stopping && !namer->count)
        pthread_cond_wait(&namer->wake, &namer->lock);
    if (!namer->stopping) {
        module = namer->queue[namer->first];
        namer->first = (namer->first + 1) % MODULES_MAX;
        namer->count--;
    }
    pthread_mutex_unlock(&namer->lock);
    return module;
}

static void *run(void *argument)
{
    struct namer *namer = argument;
    struct module *module;

    pthread_setname_np(pthread_self(), "iso-symbols");
    while ((module = wait_for_module(namer))) {
        read_names(namer, module);
        if (namer->changed)
            namer->changed(namer->context);
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
    symbol_server_free(namer->server);
    free(namer);
}

static void enqueue(struct namer *namer, struct module *module)
{
    atomic_store_explicit(&module->names, MODULE_NAMES_WANTED, memory_order_relaxed);
    namer->queue[(namer->first + namer->count++) % MODULES_MAX] = module;
    pthread_cond_signal(&namer->wake);
}

static bool is_read(const struct module *module)
{
    return atomic_load_explicit(&module->names, memory_order_acquire) == MODULE_NAMES_READ;
}

static bool is_unread(const struct module *module)
{
    return atomic_load_explicit(&module->names, memory_order_relaxed) == MODULE_NAMES_UNREAD;
}

bool namer_want(struct namer *namer, struct module *module)
{
    if (is_read(module))
        return true;
    pthread_mutex_lock(&namer->lock);
    if (is_unread(module)) {
        if (namer->started)
            enqueue(namer, module);
        else
            read_names(namer, module);
    }
    pthread_mutex_unlock(&namer->lock);
    return is_read(module);
}

void namer_expect(struct namer *namer, struct module *module)
{
    pthread_mutex_lock(&namer->lock);
    if (namer->started && is_unread(module))
        enqueue(namer, module);
    pthread_mutex_unlock(&namer->lock);
}
