/*
 * tells_tools.c - a program that has ITT's and NVTX's calls in it, as far as their interfaces go: it
 * loads the library that the environment names, and gives it the tables that their static parts have.
 * It prints what it has found: "itt", "jit" and "nvtx", one a line.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* ---- ITT ---- */

struct itt_id {
    unsigned long long d1, d2, d3;
};

static void does_nothing(void)
{
}

static const char *(*api_version)(void);
static void *(*domain_create)(const char *), *(*string_create)(const char *);
static void (*task_begin)(const void *, struct itt_id, struct itt_id, void *);
static void (*task_end)(const void *);
static void (*overlapped)(const void *, struct itt_id, struct itt_id, void *);
static void (*overlapped_end)(const void *, struct itt_id);
static void *(*counter_create)(const char *, const char *);
static void (*counter_delta)(void *, unsigned long long);
static void (*frame_begin)(const void *, struct itt_id *),
    (*frame_end)(const void *, struct itt_id *);
static void (*unknown)(void);

struct itt_function {
    const char *name;
    void **place;
    void *initial, *null;
    int group;
};
#define ENTRY(name, place)                                                                         \
    {                                                                                              \
        "__itt_" name, (void **)(void *)&(place), NULL, (void *)does_nothing, 1                    \
    }
static struct itt_function functions[] = {
    ENTRY("api_version", api_version),
    ENTRY("domain_create", domain_create),
    ENTRY("string_handle_create", string_create),
    ENTRY("task_begin", task_begin),
    ENTRY("task_end", task_end),
    ENTRY("task_begin_overlapped", overlapped),
    ENTRY("task_end_overlapped", overlapped_end),
    ENTRY("counter_create", counter_create),
    ENTRY("counter_inc_delta", counter_delta),
    ENTRY("frame_begin_v3", frame_begin),
    ENTRY("frame_end_v3", frame_end),
    ENTRY("of_a_later_version", unknown),
    { NULL, NULL, NULL, NULL, 0 },
};

static struct itt_global {
    unsigned char magic[8];
    unsigned long version[3];
    volatile long initialized[3];
    pthread_mutex_t mutex;
    void *library, *error_handler;
    const char **path;
    struct itt_function *functions;
    void *rest[16];
} global = { .functions = functions };

static void *library_of(const char *variable)
{
    const char *path = getenv(variable);

    return path ? dlopen(path, RTLD_LAZY) : NULL;
}

static void tell_itt(void)
{
    void (*init)(struct itt_global *, int);
    void *domain, *counter;

    global.library = library_of("INTEL_LIBITTNOTIFY64");
    *(void **)&init = global.library ? dlsym(global.library, "__itt_api_init") : NULL;
    if (!init)
        return;
    init(&global, 0xffff);
    unknown();
    if (!api_version()) /* as OpenCV asks whether anybody listens */
        return;
    domain = domain_create("tools.itt");
    task_begin(domain, (struct itt_id){ 0 }, (struct itt_id){ 0 }, string_create("outer"));
    task_begin(domain, (struct itt_id){ 0 }, (struct itt_id){ 0 }, string_create("inner"));
    task_end(domain);
    task_end(domain);
    overlapped(domain, (struct itt_id){ 1, 2, 3 }, (struct itt_id){ 0 }, string_create("apart"));
    overlapped_end(domain, (struct itt_id){ 1, 2, 3 });
    overlapped_end(domain, (struct itt_id){ 4, 5, 6 }); /* it never began */
    counter = counter_create("depth", "tools.itt");
    counter_delta(counter, 5);
    counter_delta(counter, 2);
    frame_begin(domain, NULL);
    frame_end(domain, NULL);
    puts("itt");
}

/* ---- JIT ---- */

static void tell_jit(void)
{
    static const uint8_t code[] = { 0xc3 };
    struct {
        unsigned int id;
        const char *name;
        void *start;
        unsigned int bytes, line_count;
        void *lines;
        unsigned int class_id;
        const char *class_name;
    } method = { .id = 7, .name = "made", .bytes = sizeof code, .class_name = "Maker" };
    void *library = library_of("INTEL_JIT_PROFILER64");
    unsigned int (*initialize)(void), (*notify)(unsigned int, void *);

    *(void **)&initialize = library ? dlsym(library, "Initialize") : NULL;
    *(void **)&notify = library ? dlsym(library, "NotifyEvent") : NULL;
    if (!initialize || !notify || initialize() != 1)
        return;
    method.start =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(method.start, code, sizeof code);
    if (notify(13, &method) == 1 && notify(14, &method.id) == 1)
        puts("jit");
}

/* ---- NVTX ---- */

enum { CORE_SIZE = 16, CORE2_SIZE = 16 };

typedef void (*function)(void);
static function core[CORE_SIZE], core2[CORE2_SIZE];
static function *core_table[CORE_SIZE], *core2_table[CORE2_SIZE];

static int table_of(int module, function ***table, unsigned int *size)
{
    if (module != 1 && module != 5)
        return 0;
    *table = module == 1 ? core_table : core2_table;
    *size = module == 1 ? CORE_SIZE : CORE2_SIZE;
    return 1;
}

static const void *export_table(uint32_t id)
{
    static const struct {
        size_t struct_size;
        int (*table_of)(int, function ***, unsigned int *);
    } callbacks = { sizeof callbacks, table_of };

    return id == 1 ? &callbacks : NULL;
}

static void tell_nvtx(void)
{
    struct {
        uint16_t version, size;
        uint32_t category;
        int32_t color_type;
        uint32_t color;
        int32_t payload_type, reserved;
        uint64_t payload;
        int32_t message_type;
        const void *message;
    } attributes = { .version = 3, .category = 4, .payload_type = 1, .payload = 42 };
    void *library = library_of("NVTX_INJECTION64_PATH"), *domain;
    int (*init)(const void *(*)(uint32_t));

    *(void **)&init = library ? dlsym(library, "InitializeInjectionNvtx2") : NULL;
    for (int i = 0; i < CORE_SIZE; i++)
        core_table[i] = &core[i];
    for (int i = 0; i < CORE2_SIZE; i++)
        core2_table[i] = &core2[i];
    if (!init || !init(export_table))
        return;
    ((int (*)(const char *))core[9])("pushed");
    ((int (*)(void))core[11])();
    ((void (*)(const char *))core[2])("marked");
    domain = ((void *(*)(const char *))core2[12])("tools.nvtx");
    ((void (*)(void *, uint32_t, const char *))core2[8])(domain, 4, "fast");
    attributes.message_type = 3;
    attributes.message = ((void *(*)(void *, const char *))core2[10])(domain, "registered");
    attributes.size = sizeof attributes;
    ((int (*)(void *, const void *))core2[4])(domain, &attributes);
    ((int (*)(void *))core2[5])(domain);
    ((void (*)(uint64_t))core[7])(((uint64_t(*)(const char *))core[5])("started"));
    puts("nvtx");
}

int main(void)
{
    tell_itt();
    tell_jit();
    tell_nvtx();
    return 0;
}
