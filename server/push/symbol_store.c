#include "symbol_store.h"

#include "push_post.h"
#include "push_request.h"
#include "push_verdict.h"

#include "../../sampler/include/isoscope/isoscope.h"
#include "../../sampler/profile/symbols/files/debug_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { TRIES = 3 };

struct symbol_store {
    struct symbol_store_plan plan;
    struct push_post *post;
    char url[PUSH_URL_BYTES]; /* without a slash at its end */
};

int symbol_store_new(struct symbol_store **out, const struct symbol_store_plan *plan, char *error,
                     size_t error_size)
{
    const char *problem = push_address_problem(plan->url);
    struct symbol_store *store;
    int status;

    if (problem) {
        snprintf(error, error_size, "'%.200s' %s", plan->url, problem);
        return -ISOSCOPE_INVALID;
    }
    store = calloc(1, sizeof(*store));
    if (!store) {
        snprintf(error, error_size, "out of memory");
        return -ISOSCOPE_NO_MEMORY;
    }
    store->plan = *plan;
    snprintf(store->url, sizeof(store->url), "%s", plan->url);
    for (size_t end = strlen(store->url); end && store->url[end - 1] == '/'; end--)
        store->url[end - 1] = '\0';
    status = push_post_new(&store->post, plan->headers, error, error_size);
    if (status < 0)
        free(store);
    else
        *out = store;
    return status;
}

void symbol_store_free(struct symbol_store *store)
{
    if (!store)
        return;
    push_post_free(store->post);
    free(store);
}

static bool has_symbols(struct elf_file *file)
{
    return elf_file_has_symtab(file) || elf_file_has_dwarf(file);
}

/* Returns its bytes; 0: it is no build id. */
static uint32_t read_build_id(const char *hex, uint8_t out[FEED_BUILD_ID_MAX])
{
    uint32_t count = 0;

    for (; sscanf(hex, "%2hhx", &out[count]) == 1 && hex[1]; hex += 2)
        if (++count == FEED_BUILD_ID_MAX)
            break;
    return count;
}

/* NULL: there is none, for which reason says why. */
static struct elf_file *find_file(const char *path, const char *build_id, const char **reason)
{
    uint8_t id[FEED_BUILD_ID_MAX];
    const struct module_file module = { .path = path,
                                        .build_id = id,
                                        .build_id_bytes = read_build_id(build_id, id) };
    struct elf_file *own = module_file_open(&module, reason), *debug;

    if (own && elf_file_has_dwarf(own))
        return own;
    debug = debug_file_open(&module, own);
    if (!debug && own && has_symbols(own))
        return own;
    if (!debug && own)
        *reason = "it is stripped, and its debug file is not here";
    elf_file_close(own);
    return debug;
}

/* A store that answers so may answer otherwise in a moment. */
static bool in_trouble(const struct push_reply *reply)
{
    return push_verdict(PUSH_INGEST, reply->status) == PUSH_AGAIN && reply->status != 501;
}

static void wait_before(unsigned try, const struct push_reply *reply)
{
    uint32_t ms = push_wait_ms(try, reply->retry_after_s, 0);
    const struct timespec time = { ms / 1000, ms % 1000 * 1000000L };

    nanosleep(&time, NULL);
}

static void say(struct symbol_report *out, const struct push_reply *reply)
{
    if (!reply->status)
        snprintf(out->reason, sizeof(out->reason), "%s", reply->words);
    else if (reply->status >= 300 && reply->status < 400)
        snprintf(out->reason, sizeof(out->reason),
                 "it answers with status %ld: it is elsewhere; give that address", reply->status);
    else
        snprintf(out->reason, sizeof(out->reason), "it answers with status %ld%s%s", reply->status,
                 reply->words[0] ? ": " : "", reply->words);
}

/* Where HEAD is not understood, or not allowed, PUT will tell. */
static enum symbol_stored ask(struct symbol_store *store, const char *url,
                              struct symbol_report *out)
{
    struct push_reply reply;

    for (unsigned try = 1;; try++) {
        push_post_head(store->post, url, &reply);
        if (!in_trouble(&reply))
            return reply.status >= 200 && reply.status < 300 ? SYMBOL_THERE : SYMBOL_SENT;
        if (try == TRIES)
            break;
        wait_before(try, &reply);
    }
    say(out, &reply);
    return SYMBOL_TROUBLE;
}

static enum symbol_stored put(struct symbol_store *store, const char *url, struct elf_file *file,
                              struct symbol_report *out)
{
    struct push_reply reply;

    for (unsigned try = 1;; try++) {
        push_post_file(store->post, url, elf_file_fd(file), out->bytes, &reply);
        if (reply.status >= 200 && reply.status < 300)
            return SYMBOL_SENT;
        if (!in_trouble(&reply) || try == TRIES)
            break;
        wait_before(try, &reply);
    }
    say(out, &reply);
    return in_trouble(&reply) ? SYMBOL_TROUBLE : SYMBOL_REFUSED;
}

static enum symbol_stored store_file(struct symbol_store *store, struct elf_file *file,
                                     const char *build_id, struct symbol_report *out)
{
    char url[PUSH_URL_BYTES + 2 * FEED_BUILD_ID_MAX + sizeof("/buildid//debuginfo")];
    enum symbol_stored stored;
    struct stat info;

    if (elf_file_fd(file) < 0 || fstat(elf_file_fd(file), &info) < 0) {
        snprintf(out->reason, sizeof(out->reason), "it is no file");
        return SYMBOL_NO_FILE;
    }
    out->bytes = (uint64_t)info.st_size;
    if (out->bytes > store->plan.bytes_max)
        return SYMBOL_LARGE;
    snprintf(url, sizeof(url), "%s/buildid/%s/debuginfo", store->url, build_id);
    stored = ask(store, url, out);
    return stored == SYMBOL_SENT && !store->plan.dry ? put(store, url, file, out) : stored;
}

enum symbol_stored symbol_store_module(struct symbol_store *store, const char *path,
                                       const char *build_id, struct symbol_report *out)
{
    const char *reason = "";
    struct elf_file *file = find_file(path, build_id, &reason);
    enum symbol_stored stored = SYMBOL_NO_FILE;

    *out = (struct symbol_report){ 0 };
    if (file)
        stored = store_file(store, file, build_id, out);
    else
        snprintf(out->reason, sizeof(out->reason), "%s", reason ? reason : "");
    elf_file_close(file);
    return stored;
}
