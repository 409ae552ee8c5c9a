#include "table_store.h"

#include "../../feed/layout.h"
#include "../../include/isoscope/isoscope.h"
#include "../base/map64.h"
#include "../base/thread.h"
#include "../symbols/files/module_key.h"
#include "table_source.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CONTINUED_BYTES_MAX = 256 * 1024 * 1024 };

struct entry {
    struct module_key key;
    struct entry *next; /* in the queue */
    char *path;
    uint8_t build_id[FEED_BUILD_ID_MAX];
    struct module_file module; /* with the two above */
    struct table_place place;
    bool unreadable;    /* with this module's process; another one may have it still */
    _Atomic bool ready; /* place and unreadable are */
};

struct table_store {
    int fd;
    char *path;
    void (*done)(void *context);
    void *context;
    uint64_t end; /* the worker's: bytes of the file in use */
    bool stays;   /* the file, for the next service */

    pthread_mutex_t asking; /* guards the next three; taken before the other one */
    struct map64 numbers;   /* key's hash -> entries[number - 1] */
    struct entry **entries;
    uint32_t count, capacity;

    pthread_mutex_t lock; /* guards the rest */
    pthread_cond_t wake;
    struct entry *first, **last; /* the queue */
    bool stopping, started;
    pthread_t thread;
};

static bool write_all(int fd, const void *bytes, uint64_t size, uint64_t at)
{
    const uint8_t *from = bytes;

    while (size) {
        ssize_t put = pwrite(fd, from, size, (off_t)at);

        if (put <= 0)
            return false;
        from += put;
        at += (uint64_t)put;
        size -= (uint64_t)put;
    }
    return true;
}

static struct table_place put_table(struct table_store *store, const struct unwind_table *table,
                                    bool stripped_go)
{
    struct table_place place = { .at = FEED_TABLE_NONE, .stripped_go = stripped_go };

    if (!table || table->bytes > UINT32_MAX ||
        !write_all(store->fd, table, table->bytes, store->end))
        return place;
    place = (struct table_place){ store->end, (uint32_t)table->bytes, stripped_go };
    store->end =
        (store->end + table->bytes + FEED_TABLE_ALIGN - 1) / FEED_TABLE_ALIGN * FEED_TABLE_ALIGN;
    return place;
}

static void build_entry(struct table_store *store, struct entry *entry)
{
    struct unwind_table *table = NULL;
    bool stripped_go = false;

    entry->unreadable = !table_source_build(&entry->module, &table, &stripped_go);
    entry->place = put_table(store, table, stripped_go);
    atomic_store_explicit(&entry->ready, true, memory_order_release);
    free(table);
}

static void *run(void *argument)
{
    struct table_store *store = argument;

    pthread_setname_np(pthread_self(), "iso-tables");
    pthread_mutex_lock(&store->lock);
    while (!store->stopping) {
        struct entry *entry = store->first;

        if (!entry) {
            pthread_cond_wait(&store->wake, &store->lock);
            continue;
        }
        store->first = entry->next;
        if (!store->first)
            store->last = &store->first;
        pthread_mutex_unlock(&store->lock);
        build_entry(store, entry);
        if (store->done)
            store->done(store->context);
        pthread_mutex_lock(&store->lock);
    }
    pthread_mutex_unlock(&store->lock);
    return NULL;
}

/* By which programs know that it is still ours; 0 would be none. */
static bool put_mark(int fd)
{
    uint64_t mark;

    static_assert(sizeof(mark) == FEED_TABLES_MARK_BYTES, "as programs compare it");
    if (getrandom(&mark, sizeof(mark), 0) != (ssize_t)sizeof(mark))
        return false;
    mark |= 1;
    return write_all(fd, &mark, sizeof(mark), FEED_TABLES_MARK_AT);
}

/* Programs map its first page before there is a table. */
static int make_file(struct table_store *store, const char *path)
{
    unlink(path);
    store->path = strdup(path);
    store->fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    store->end = FEED_TABLE_ALIGN;
    if (!store->path)
        return -ISOSCOPE_NO_MEMORY;
    return store->fd < 0 || ftruncate(store->fd, FEED_TABLE_ALIGN) < 0 || !put_mark(store->fd)
               ? -ISOSCOPE_SYSTEM
               : 0;
}

/* Only a file of our own, with a mark. False: it is to be made anew. */
static bool continue_file(struct table_store *store, const char *path)
{
    struct stat info;
    uint64_t mark = 0;
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);

    if (fd < 0)
        return false;
    if (fstat(fd, &info) < 0 || !S_ISREG(info.st_mode) || info.st_uid != geteuid() ||
        info.st_size < FEED_TABLE_ALIGN || info.st_size > CONTINUED_BYTES_MAX ||
        pread(fd, &mark, sizeof(mark), FEED_TABLES_MARK_AT) != (ssize_t)sizeof(mark) || !mark ||
        !(store->path = strdup(path))) {
        close(fd);
        return false;
    }
    store->fd = fd;
    store->end =
        ((uint64_t)info.st_size + FEED_TABLE_ALIGN - 1) / FEED_TABLE_ALIGN * FEED_TABLE_ALIGN;
    return true;
}

static int open_store(struct table_store **out, const char *path, bool continues,
                      void (*done)(void *context), void *context)
{
    struct table_store *store = calloc(1, sizeof(*store));
    int error;

    if (!store)
        return -ISOSCOPE_NO_MEMORY;
    store->done = done;
    store->context = context;
    store->last = &store->first;
    pthread_mutex_init(&store->asking, NULL);
    pthread_mutex_init(&store->lock, NULL);
    pthread_cond_init(&store->wake, NULL);
    store->stays = continues;
    error = continues && continue_file(store, path) ? 0 : make_file(store, path);
    if (!error)
        error = thread_start(&store->thread, run, store);
    store->started = !error;
    if (error) {
        int problem = errno;

        table_store_free(store);
        errno = problem;
        return error;
    }
    *out = store;
    return 0;
}

int table_store_new(struct table_store **out, const char *path, void (*done)(void *context),
                    void *context)
{
    return open_store(out, path, false, done, context);
}

int table_store_continue(struct table_store **out, const char *path, void (*done)(void *context),
                         void *context)
{
    return open_store(out, path, true, done, context);
}

static void entry_free(struct entry *entry)
{
    if (entry)
        free(entry->path);
    free(entry);
}

void table_store_free(struct table_store *store)
{
    if (!store)
        return;
    pthread_mutex_lock(&store->lock);
    store->stopping = true;
    pthread_cond_signal(&store->wake);
    pthread_mutex_unlock(&store->lock);
    if (store->started)
        pthread_join(store->thread, NULL);
    for (uint32_t i = 0; i < store->count; i++)
        entry_free(store->entries[i]);
    free(store->entries);
    map64_free(&store->numbers);
    if (store->fd >= 0) {
        close(store->fd);
        if (!store->stays)
            unlink(store->path);
    }
    free(store->path);
    pthread_cond_destroy(&store->wake);
    pthread_mutex_destroy(&store->lock);
    pthread_mutex_destroy(&store->asking);
    free(store);
}

static struct entry *entry_new(const struct module_file *module, const struct module_key *key)
{
    struct entry *entry = calloc(1, sizeof(*entry));

    if (!entry)
        return NULL;
    entry->key = *key;
    entry->path = strdup(module->path);
    if (module->build_id_bytes)
        memcpy(entry->build_id, module->build_id, module->build_id_bytes);
    entry->module = *module;
    entry->module.path = entry->path;
    entry->module.build_id = entry->build_id;
    if (entry->path)
        return entry;
    free(entry);
    return NULL;
}

static void enqueue(struct table_store *store, struct entry *entry)
{
    atomic_store_explicit(&entry->ready, false, memory_order_relaxed);
    pthread_mutex_lock(&store->lock);
    entry->next = NULL;
    *store->last = entry;
    store->last = &entry->next;
    pthread_cond_signal(&store->wake);
    pthread_mutex_unlock(&store->lock);
}

/* NULL: no memory. */
static struct entry *add_entry(struct table_store *store, const struct module_file *module,
                               const struct module_key *key)
{
    struct entry *entry;

    if (store->count == store->capacity) {
        uint32_t capacity = store->capacity ? 2 * store->capacity : 64;
        struct entry **entries = reallocarray(store->entries, capacity, sizeof(struct entry *));

        if (!entries)
            return NULL;
        store->entries = entries;
        store->capacity = capacity;
    }
    entry = entry_new(module, key);
    if (!entry)
        return NULL;
    store->entries[store->count++] = entry;
    enqueue(store, entry);
    return entry;
}

/* With the lock. */
static bool ask(struct table_store *store, const struct module_file *module,
                const struct module_key *key, struct table_place *out)
{
    struct entry *entry = NULL;
    bool added = false;
    uint32_t *number = map64_put(&store->numbers, module_key_hash(key), &added);

    *out = (struct table_place){ .at = FEED_TABLE_NONE };
    if (!number)
        return true;
    if (added && add_entry(store, module, key))
        *number = store->count;
    if (*number)
        entry = store->entries[*number - 1];
    if (!entry || memcmp(&entry->key, key, sizeof(*key)) != 0)
        return true;
    if (!atomic_load_explicit(&entry->ready, memory_order_acquire))
        return false;
    if (entry->unreadable && entry->module.pid != module->pid) {
        entry->module.pid = module->pid;
        entry->module.address = module->address;
        enqueue(store, entry);
        return false;
    }
    *out = entry->place;
    return true;
}

bool table_store_ask(struct table_store *store, const struct module_file *module,
                     struct table_place *out)
{
    struct module_key key = module_key_of(module);
    bool had;

    pthread_mutex_lock(&store->asking);
    had = ask(store, module, &key, out);
    pthread_mutex_unlock(&store->asking);
    return had;
}
