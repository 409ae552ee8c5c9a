/*
 * protocol_bench reply|live|memory|turns - what replies with samples cost, over a profile made up
 * here.
 *
 *     reply    getCpuSamples of 100,000 samples, 32 deep, and a jansson tree of the same snapshot
 *     live     one second of 1 kHz samples, after the first minute and after an hour
 *     memory   eight clients in the middle of such a reply: memory METHOD SAMPLES ADDRESSES, where
 *              each of the four inner frames has so many
 *     turns    one whole reply, call by call at the service's door: turns METHOD SAMPLES ADDRESSES;
 *              beside the samples there are 20,000 threads that have ended, and 100,000 functions
 *
 * Prints lines of a name and a number. Times are CPU seconds: of this process, turns of its thread.
 */
#include "../unit/fake_feed.h"

#include "protocol/service.h"
#include "sampler/profile/parts.h"
#include "sampler/profile/intake/process.h"
#include "sampler/profile/intake/processes.h"
#include "sampler/profile/profile.h"

#include <jansson.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    REPLY_SAMPLES = 100000,
    DEPTH = 32,
    LIVE_DEPTH = 8,
    ROUNDS = 7,
    PERIOD_US = 1000,
    MINUTE = 60000,
    HOUR = 3600000,
    LIVE_ROUNDS = 400,
    SLOW_CLIENTS = 8,
    COMPOSE_ROUNDS = 3,
    ADDRESSES = 16,
    ADDRESSES_MAX = 1 << 16,
    PIECE_BYTES = 32 * 1024,
    FUNCTIONS = 100000,
    FILES = 1000,
    ENDED_THREADS = 20000,
};

struct bench {
    struct profile *profile;
    struct service *service;
    struct fake_feed feed;
    struct owner *owner;
    struct owner_thread *thread;
    uint32_t module;
    int64_t time_us;
    uint64_t random, addresses;
};

static double cpu_seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int64_t epoch_ms(void)
{
    return 1700000000000;
}

static int64_t newest_us; /* sample */

static int64_t monotonic_us(void)
{
    return newest_us;
}

static void must(bool good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "protocol_bench: %s failed\n", what);
    exit(1);
}

static void open_bench(struct bench *bench)
{
    struct profile_options options = { .settings.enabled = true,
                                       .no_symbols = true,
                                       .store_bytes = (size_t)1 << 30 };
    struct profile_peer peer = {
        .pid = getpid(), .clock = -1, .faults = -1, .exe = "/usr/bin/bench"
    };
    struct service_options service = { .version = "0",
                                       .epoch_ms = epoch_ms,
                                       .monotonic_us = monotonic_us };
    uint8_t build_id[20] = { 1 };
    uint64_t id = 0;

    *bench = (struct bench){ .random = 88172645463325252u };
    must(profile_new(&bench->profile, &options) == 0, "profile_new");
    fake_feed_open(&bench->feed, getpid());
    must(profile_attach(bench->profile, fake_feed_memfd(&bench->feed), &peer, &id) == 0,
         "profile_attach");
    bench->owner =
        owner_hold(processes_at(bench->profile->processes, 0)->owners.of[SAMPLES_OF_TIME]);
    must(owner_thread_new(&bench->thread, bench->owner, getpid(), "main") == 0, "owner_thread_new");
    bench->module =
        registry_number(bench->profile->registry, "/home/user/bench", build_id, sizeof(build_id));
    service.profile = bench->profile;
    must(service_new(&bench->service, &service) == 0, "service_new");
}

static void close_bench(struct bench *bench)
{
    service_free(bench->service);
    owner_thread_release(bench->thread);
    owner_release(bench->owner);
    profile_free(bench->profile);
    fake_feed_close(&bench->feed);
}

static uint64_t draw(struct bench *bench, uint64_t below)
{
    bench->random ^= bench->random << 13;
    bench->random ^= bench->random >> 7;
    bench->random ^= bench->random << 17;
    return bench->random % below;
}

/* The outer frames vary little, the inner ones more, as in real programs. */
static void add_samples(struct bench *bench, uint32_t count, uint32_t depth)
{
    uint64_t frames[DEPTH];
    struct store_sample sample = {
        .thread = bench->thread, .weight = 1000000, .depth = depth, .frames = frames
    };

    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t frame = 0; frame < depth; frame++)
            frames[frame] =
                FRAME_KEY(bench->module, 16 * (frame * ADDRESSES_MAX +
                                               draw(bench, frame < 4 ? bench->addresses : 1)));
        newest_us = bench->time_us += PERIOD_US;
        sample.timestamp_us = bench->time_us;
        must(store_add(bench->profile->stores.of[SAMPLES_OF_TIME], &sample) == 0, "store_add");
    }
}

/* As those of a C++ program: a hundred to a file. */
static void add_functions(struct bench *bench)
{
    char name[32], file[48];

    for (uint32_t i = 0; i < FUNCTIONS; i++) {
        struct function_source source = { .module = bench->module,
                                          .start = 16 * i,
                                          .name = name,
                                          .full_name = name,
                                          .raw_name = name,
                                          .file = file };

        snprintf(name, sizeof(name), "function %u", i);
        snprintf(file, sizeof(file), "/home/user/src/file %u.cc", i % FILES);
        source.name = source.full_name = source.raw_name =
            functions_text(bench->profile->functions, name);
        must(functions_number(bench->profile->functions, &source) != 0, "functions_number");
    }
    module_set_add(&processes_at(bench->profile->processes, 0)->met, bench->module);
}

static void add_ended_threads(struct bench *bench)
{
    struct owner_thread *main_thread = bench->thread;

    for (int32_t i = 1; i <= ENDED_THREADS; i++) {
        must(owner_thread_new(&bench->thread, bench->owner, getpid() + i, "ended") == 0,
             "owner_thread_new");
        add_samples(bench, 1, 1);
        owner_thread_release(bench->thread);
    }
    bench->thread = main_thread;
}

static void send_request(struct client *client, const char *method, const char *params)
{
    char text[512];
    int length = snprintf(text, sizeof(text), "{\"id\":\"1\",\"method\":\"%s\",\"params\":{%s}}",
                          method, params);

    client_receive(client, text, (size_t)length);
}

/* Reads until bytes_max are there or the message ends. first_seconds may be NULL. */
static size_t read_reply(struct client *client, size_t bytes_max, double *first_seconds)
{
    static char piece[PIECE_BYTES];
    bool begins, ends = false;
    size_t bytes = 0;

    while (!ends && bytes < bytes_max) {
        size_t count = client_send(client, piece, sizeof(piece), &begins, &ends);

        must(client_wants_send(client) || ends, "client_send");
        if (!bytes && count && first_seconds)
            *first_seconds = cpu_seconds();
        bytes += count;
    }
    return bytes;
}

static json_t *sample_tree(const struct snapshot *snapshot, const struct snapshot_sample *sample)
{
    json_t *stack = json_array();
    uint32_t count;
    const struct snapshot_frame *frames = snapshot_frames(snapshot, &count);

    for (uint32_t i = 0; i < sample->depth; i++)
        json_array_append_new(stack, json_integer(frames[sample->frames[i]].function));
    return json_pack("{s:i, s:I, s:s, s:s, s:o}", "tid", sample->tid, "timestamp",
                     (json_int_t)sample->timestamp_us, "vmTag", "Running", "userTag",
                     sample->thread_name, "stack", stack);
}

/* The same text, or less: functions are left out. */
static size_t dump_tree(struct bench *bench)
{
    struct snapshot_window window = { .process_id = bench->owner->process_id };
    struct snapshot_sample sample;
    struct snapshot *snapshot;
    json_t *samples = json_array();
    uint32_t cursor = 0;
    json_t *reply;
    size_t length;
    char *text;

    must(snapshot_take(&snapshot, bench->profile, &window) == 0, "snapshot_take");
    while (snapshot_next(snapshot, &cursor, &sample))
        json_array_append_new(samples, sample_tree(snapshot, &sample));
    reply = json_pack("{s:s, s:s, s:{s:s, s:o}}", "jsonrpc", "2.0", "id", "1", "result", "type",
                      "CpuSamples", "samples", samples);
    text = json_dumps(reply, JSON_COMPACT);
    must(text != NULL, "json_dumps");
    length = strlen(text);
    free(text);
    json_decref(reply);
    snapshot_free(snapshot);
    return length;
}

static void reply_params(char out[96], const char *method)
{
    snprintf(out, 96, "\"isolateId\":\"isolates/%d\"%s", getpid(),
             strcmp(method, "_getCpuProfile") ? "" : ",\"tags\":\"UserVM\"");
}

static void run_reply(struct bench *bench)
{
    struct client *client;
    char params[64];

    snprintf(params, sizeof(params), "\"isolateId\":\"isolates/%d\"", getpid());
    add_samples(bench, REPLY_SAMPLES, DEPTH);
    must(client_new(&client, bench->service) == 0, "client_new");
    for (int round = 0; round < ROUNDS; round++) {
        double begin = cpu_seconds(), first, end;
        size_t bytes;

        send_request(client, "getCpuSamples", params);
        bytes = read_reply(client, SIZE_MAX, &first);
        end = cpu_seconds();
        printf("streamed %.6f\nfirst_byte %.6f\nbytes %zu\n", end - begin, first - begin, bytes);
        begin = cpu_seconds();
        bytes = dump_tree(bench);
        printf("tree %.6f\ntree_bytes %zu\n", cpu_seconds() - begin, bytes);
    }
}

/* What a live view asks for each second; begins at the last second. */
static double table_seconds(struct bench *bench)
{
    struct client *client;
    double spent = 0;
    char *next, params[256];
    static char head[PIECE_BYTES + 1];
    bool begins, ends;

    must(client_new(&client, bench->service) == 0, "client_new");
    snprintf(params, sizeof(params), "\"form\":\"table\",\"timestamp\":%lld",
             (long long)bench->time_us);
    for (int round = 0; round <= LIVE_ROUNDS / 4; round++) {
        double begin = cpu_seconds();

        send_request(client, "_getCpuSamples", params);
        do
            head[client_send(client, head, PIECE_BYTES, &begins, &ends)] = '\0';
        while (!*head);
        if (!ends)
            read_reply(client, SIZE_MAX, NULL);
        if (round) /* the first one brings the tables */
            spent += cpu_seconds() - begin;
        next = strstr(head, "\"next\":\"");
        must(next != NULL, "the reply's cursor");
        snprintf(params, sizeof(params), "\"form\":\"table\",\"cursor\":\"%.*s\"",
                 (int)strcspn(next + 8, "\""), next + 8);
        add_samples(bench, 1000, LIVE_DEPTH);
    }
    client_free(client);
    return spent / (LIVE_ROUNDS / 4);
}

/* The public form, with a window of one second: the last one. */
static double window_seconds(struct bench *bench)
{
    struct client *client;
    double begin;
    char params[160];

    must(client_new(&client, bench->service) == 0, "client_new");
    snprintf(params, sizeof(params),
             "\"isolateId\":\"isolates/%d\",\"timeOriginMicros\":%lld,\"timeExtentMicros\":999999",
             getpid(), (long long)bench->time_us - 999999);
    begin = cpu_seconds();
    for (int round = 0; round < LIVE_ROUNDS; round++) {
        send_request(client, "getCpuSamples", params);
        read_reply(client, SIZE_MAX, NULL);
    }
    begin = cpu_seconds() - begin;
    client_free(client);
    return begin / LIVE_ROUNDS;
}

/* Chunks begin anew at 65,536 samples: both ends are measured when the newest is as full. */
static void run_live(struct bench *bench)
{
    enum { CHUNK = CHUNK_ENTRIES_MAX, CHUNKS = HOUR / CHUNK };

    add_samples(bench, MINUTE, LIVE_DEPTH);
    for (int half = 0; half < 2; half++) {
        const char *when = half ? "late" : "early";
        uint64_t before = bench->thread->samples;

        printf("window_%s %.9f\n", when, window_seconds(bench));
        printf("table_%s %.9f\n", when, table_seconds(bench));
        printf("samples_%s %llu\n", when, (unsigned long long)before);
        if (!half)
            add_samples(bench, (uint32_t)(CHUNKS * CHUNK - (bench->thread->samples - before)),
                        LIVE_DEPTH);
    }
}

static size_t heap_bytes(void)
{
    struct mallinfo2 info = mallinfo2();

    return info.uordblks + info.hblkhd;
}

static size_t resident_bytes(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    unsigned long size = 0, resident = 0;

    must(file && fscanf(file, "%lu %lu", &size, &resident) == 2, "/proc/self/statm");
    fclose(file);
    return resident * (size_t)sysconf(_SC_PAGESIZE);
}

/* What peaks while a request is answered is not a client's for as long as it reads. */
static void run_memory(struct bench *bench, const char *method, uint32_t samples)
{
    struct client *clients[SLOW_CLIENTS];
    size_t heap, resident;
    char params[96];

    reply_params(params, method);
    add_samples(bench, samples, DEPTH);
    heap = heap_bytes();
    resident = resident_bytes();
    for (int i = 0; i < SLOW_CLIENTS; i++) {
        must(client_new(&clients[i], bench->service) == 0, "client_new");
        send_request(clients[i], method, params);
        read_reply(clients[i], (size_t)4 << 20, NULL);
    }
    malloc_trim(0);
    printf("heap %zu\nresident %zu\n", (heap_bytes() - heap) / SLOW_CLIENTS,
           (resident_bytes() - resident) / SLOW_CLIENTS);
    for (int i = 0; i < SLOW_CLIENTS; i++)
        client_free(clients[i]);
}

/* How long each call at the service's door took: nobody else is served meanwhile. */
struct turns {
    double *list;
    size_t count, capacity;
    double begun;
};

static double thread_seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void turn_begin(struct turns *turns)
{
    if (turns->count == turns->capacity) {
        turns->capacity = turns->capacity ? 2 * turns->capacity : 1024;
        turns->list = reallocarray(turns->list, turns->capacity, sizeof(*turns->list));
        must(turns->list != NULL, "reallocarray");
    }
    turns->begun = thread_seconds();
}

static void turn_end(struct turns *turns)
{
    turns->list[turns->count++] = thread_seconds() - turns->begun;
}

static int by_length(const void *left, const void *right)
{
    const double *a = left, *b = right;

    return *a < *b ? -1 : *a > *b;
}

/* All that is sent to the client until nothing is left. */
static size_t read_turns(struct turns *turns, struct client *client)
{
    static char piece[PIECE_BYTES];
    bool begins, ends;
    size_t bytes = 0;

    while (client_wants_send(client)) {
        turn_begin(turns);
        bytes += client_send(client, piece, sizeof(piece), &begins, &ends);
        turn_end(turns);
    }
    return bytes;
}

static void ask_turn(struct turns *turns, struct client *client, const char *method,
                     const char *params)
{
    turn_begin(turns);
    send_request(client, method, params);
    turn_end(turns);
}

static void turn_params(char out[160], const char *method)
{
    static const struct {
        const char *method, *params;
    } more[] = {
        { "_getCpuProfile", ",\"tags\":\"UserVM\"" },
        { "getSourceReport", ",\"reports\":[\"_Profile\",\"Coverage\"]" },
        { "getCachedCpuSamples", ",\"userTag\":\"main\"" },
        { "table", ",\"form\":\"table\"" },
        { "getPerfettoVMTimelineWithCpuSamples", ",\"timeOriginMicros\":0" },
    };
    const char *found = "";

    for (size_t i = 0; i < sizeof(more) / sizeof(*more); i++)
        if (!strcmp(more[i].method, method))
            found = more[i].params;
    if (!strcmp(method, "streamCpuSamplesWithUserTag"))
        snprintf(out, 160, "\"userTags\":[\"main\"]");
    else
        snprintf(out, 160, "\"isolateId\":\"isolates/%d\"%s", getpid(), found);
}

/* method: "table" is _getCpuSamples in that form. */
static void run_turns(struct bench *bench, const char *method, uint32_t samples)
{
    /* The second time there would be nothing left. */
    bool once =
        !strcmp(method, "clearCpuSamples") || !strcmp(method, "streamCpuSamplesWithUserTag");
    struct turns turns = { 0 };
    struct client *client;
    char params[160];

    turn_params(params, method);
    add_functions(bench);
    add_ended_threads(bench);
    add_samples(bench, samples, DEPTH);
    must(client_new(&client, bench->service) == 0, "client_new");
    ask_turn(&turns, client, "streamListen", "\"streamId\":\"Profiler\"");
    read_turns(&turns, client);
    for (int round = 0; round < (once ? 1 : COMPOSE_ROUNDS); round++) {
        double begin = thread_seconds();
        size_t bytes;

        turns.count = 0;
        ask_turn(&turns, client, strcmp(method, "table") ? method : "_getCpuSamples", params);
        bytes = read_turns(&turns, client);
        turn_begin(&turns);
        service_poll(bench->service);
        turn_end(&turns);
        bytes += read_turns(&turns, client);
        printf("whole %.6f\nbytes %zu\n", thread_seconds() - begin, bytes);
        qsort(turns.list, turns.count, sizeof(*turns.list), by_length);
        printf("turns %zu\nlongest %.6f\np99 %.6f\n", turns.count, turns.list[turns.count - 1],
               turns.list[turns.count - 1 - turns.count / 100]);
    }
    free(turns.list);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    const char *method = argc > 2 ? argv[2] : "getCpuSamples";
    uint32_t samples = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : REPLY_SAMPLES;
    struct bench bench;

    open_bench(&bench);
    bench.addresses = argc > 4 ? strtoul(argv[4], NULL, 10) % ADDRESSES_MAX : ADDRESSES;
    if (!strcmp(what, "reply"))
        run_reply(&bench);
    else if (!strcmp(what, "live"))
        run_live(&bench);
    else if (!strcmp(what, "memory"))
        run_memory(&bench, method, samples);
    else if (!strcmp(what, "turns"))
        run_turns(&bench, method, samples);
    else
        must(false, "reply, live, memory or turns [METHOD [SAMPLES [ADDRESSES]]] wanted: that");
    close_bench(&bench);
    return 0;
}
