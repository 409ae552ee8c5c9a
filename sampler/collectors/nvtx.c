/*
 * nvtx.c - NVIDIA's Tools Extension, version 3: what programs tell it becomes events.
 *
 * NVTX is header-only. With its first call it loads the library that NVTX_INJECTION64_PATH names, and
 * gives it, by InitializeInjectionNvtx2, tables of pointers to its functions.
 *
 * A domain is a stream; the one without a name is "NVTX". Ranges that are pushed and popped are
 * slices, those that start and end are asynchronous, marks are instants. A category and a payload are
 * arguments.
 */
#include "told.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#define EXPORT __attribute__((visibility("default")))

/* ---- the ABI: what nvToolsExt.h and its nvtxTypes.h lay down ---- */

enum { EXPORT_CALLBACKS = 1, MODULE_CORE = 1, MODULE_CORE2 = 5 };

typedef void (*function)(void);

struct callbacks {
    size_t struct_size;
    int (*table_of)(int module, function ***table, unsigned int *size);
};

enum message { MESSAGE_NONE, MESSAGE_ASCII, MESSAGE_WIDE, MESSAGE_REGISTERED };
enum payload {
    PAYLOAD_NONE,
    PAYLOAD_UINT64,
    PAYLOAD_INT64,
    PAYLOAD_DOUBLE,
    PAYLOAD_UINT32,
    PAYLOAD_INT32,
    PAYLOAD_FLOAT
};

struct attributes {
    uint16_t version, size;
    uint32_t category;
    int32_t color_type;
    uint32_t color;
    int32_t payload_type, reserved;
    union {
        uint64_t uint64;
        int64_t int64;
        double number;
        uint32_t uint32;
        int32_t int32;
        float small_number;
    } payload;
    int32_t message_type;
    union {
        const char *ascii;
        const wchar_t *wide;
        const struct registered *registered;
    } message;
};

/* Ours behind its opaque handles. */
struct category {
    struct category *_Atomic next;
    uint32_t number;
    char *name;
};
struct domain {
    char *name;
    struct category *_Atomic categories;
};
struct registered {
    char *text;
};

static struct domain unnamed = { .name = (char[]){ "NVTX" } };
static __thread int depth;
static _Atomic uint64_t last_range;

enum { TEXT_BYTES = 1024 };

/* UTF-8 of it, as much as there is room for. */
static const char *narrow(const wchar_t *wide, char out[TEXT_BYTES])
{
    size_t at = 0;

    for (; wide && *wide && at < TEXT_BYTES - 5; wide++) {
        uint32_t c = (uint32_t)*wide;

        if (c < 0x80) {
            out[at++] = (char)c;
            continue;
        }
        if (c >= 0x10000)
            out[at++] = (char)(0xf0 | (c >> 18 & 7));
        if (c >= 0x800)
            out[at++] = (char)(c >= 0x10000 ? 0x80 | (c >> 12 & 63) : 0xe0 | c >> 12);
        out[at++] = (char)(c >= 0x800 ? 0x80 | (c >> 6 & 63) : 0xc0 | c >> 6);
        out[at++] = (char)(0x80 | (c & 63));
    }
    out[at] = 0;
    return out;
}

static struct domain *known(struct domain *domain)
{
    return domain ? domain : &unnamed;
}

/* ---- what an event says ---- */

static const char *message_of(const struct attributes *attributes, char out[TEXT_BYTES])
{
    const char *text = NULL;

    if (attributes->message_type == MESSAGE_ASCII)
        text = attributes->message.ascii;
    else if (attributes->message_type == MESSAGE_WIDE)
        text = narrow(attributes->message.wide, out);
    else if (attributes->message_type == MESSAGE_REGISTERED && attributes->message.registered)
        text = attributes->message.registered->text;
    return text ? text : "";
}

static const char *category_name(struct domain *domain, uint32_t number)
{
    struct category *category = domain->categories;

    while (category && category->number != number)
        category = category->next;
    return category ? category->name : NULL;
}

static uint32_t put_category(struct domain *domain, const struct attributes *attributes,
                             struct isoscope_argument *out)
{
    const char *name;

    if (!attributes->category)
        return 0;
    name = category_name(domain, attributes->category);
    *out = name ? (struct isoscope_argument)ISOSCOPE_TEXT("category", name)
                : (struct isoscope_argument)ISOSCOPE_UINT("category", attributes->category);
    return 1;
}

static uint32_t put_payload(const struct attributes *attributes, struct isoscope_argument *out)
{
#define PAYLOAD(type, as, member)                                                                  \
    case PAYLOAD_##type:                                                                           \
        *out = (struct isoscope_argument)ISOSCOPE_##as("payload", attributes->payload.member);     \
        return 1;
    switch (attributes->payload_type) {
        PAYLOAD(UINT64, UINT, uint64)
        PAYLOAD(INT64, INT, int64)
        PAYLOAD(DOUBLE, DOUBLE, number)
        PAYLOAD(UINT32, UINT, uint32)
        PAYLOAD(INT32, INT, int32)
        PAYLOAD(FLOAT, DOUBLE, small_number)
    default:
        return 0;
    }
}

/* An event, of the site that is returned. */
static struct isoscope_site *tell(struct domain *domain, const struct attributes *attributes,
                                  enum isoscope_event_kind kind, uint64_t id)
{
    struct isoscope_argument arguments[2];
    char text[TEXT_BYTES];
    struct isoscope_site *site = told_site(domain->name, message_of(attributes, text));
    uint32_t count = put_category(domain, attributes, arguments);
    struct isoscope_event event = { .struct_size = sizeof event, .kind = kind, .id = id };

    count += put_payload(attributes, arguments + count);
    event.arguments = arguments;
    event.argument_count = count;
    if (ISOSCOPE_IS_ON(site))
        isoscope_event_tell(site, &event);
    return site;
}

static struct attributes plain(const char *text)
{
    return (struct attributes){ .message_type = MESSAGE_ASCII, .message.ascii = text };
}

/* ---- domains ---- */

static void domain_mark(struct domain *domain, const struct attributes *attributes)
{
    if (attributes && ISOSCOPE_STREAMS_ON)
        tell(known(domain), attributes, ISOSCOPE_EVENT_INSTANT, 0);
}

static int domain_push(struct domain *domain, const struct attributes *attributes)
{
    if (attributes && ISOSCOPE_STREAMS_ON)
        tell(known(domain), attributes, ISOSCOPE_EVENT_BEGIN, 0);
    return depth++;
}

static int domain_pop(struct domain *domain)
{
    struct isoscope_site *site;

    if (ISOSCOPE_STREAMS_ON) {
        site = told_site(known(domain)->name, "");
        if (ISOSCOPE_IS_ON(site))
            isoscope_event_end(site);
    }
    return depth > 0 ? --depth : -1;
}

static struct told_id range_id(uint64_t number)
{
    return (struct told_id){ &last_range, { number, 0, 0 } };
}

static uint64_t domain_start(struct domain *domain, const struct attributes *attributes)
{
    uint64_t number = atomic_fetch_add(&last_range, 1) + 1;
    struct told_id id = range_id(number);

    if (attributes && ISOSCOPE_STREAMS_ON)
        told_keep(&id, tell(known(domain), attributes, ISOSCOPE_EVENT_ASYNC_BEGIN, number), 0);
    return number;
}

static void range_end(uint64_t number)
{
    struct told_id id = range_id(number);
    uint64_t start_ns;
    struct isoscope_site *site = told_take(&id, &start_ns);

    if (site)
        told_event(site, ISOSCOPE_EVENT_ASYNC_END, number);
}

static void domain_end(struct domain *domain, uint64_t number)
{
    (void)domain;
    range_end(number);
}

static void domain_name_category(struct domain *domain, uint32_t number, const char *name)
{
    struct category *category = malloc(sizeof *category), *first;

    if (!category)
        return;
    category->number = number;
    category->name = strdup(name ? name : "");
    first = known(domain)->categories;
    do
        category->next = first;
    while (!atomic_compare_exchange_weak(&known(domain)->categories, &first, category));
}

static void domain_name_category_wide(struct domain *domain, uint32_t number, const wchar_t *name)
{
    char text[TEXT_BYTES];

    domain_name_category(domain, number, narrow(name, text));
}

static struct registered *domain_register(struct domain *domain, const char *text)
{
    struct registered *registered = malloc(sizeof *registered);

    (void)domain;
    if (registered)
        registered->text = strdup(text ? text : "");
    return registered;
}

static struct registered *domain_register_wide(struct domain *domain, const wchar_t *wide)
{
    char text[TEXT_BYTES];

    return domain_register(domain, narrow(wide, text));
}

/* They are few, and kept: an event may still name one that was destroyed. */
static struct domain *domain_create(const char *name)
{
    struct domain *domain = calloc(1, sizeof *domain);

    if (domain)
        domain->name = strdup(name && *name ? name : "NVTX");
    return domain;
}

static struct domain *domain_create_wide(const wchar_t *wide)
{
    char text[TEXT_BYTES];

    return domain_create(narrow(wide, text));
}

/* ---- without a domain ---- */

static void mark_ex(const struct attributes *attributes)
{
    domain_mark(NULL, attributes);
}

static void mark(const char *text)
{
    const struct attributes attributes = plain(text);

    domain_mark(NULL, &attributes);
}

static void mark_wide(const wchar_t *wide)
{
    char text[TEXT_BYTES];

    mark(narrow(wide, text));
}

static uint64_t start_ex(const struct attributes *attributes)
{
    return domain_start(NULL, attributes);
}

static uint64_t start(const char *text)
{
    const struct attributes attributes = plain(text);

    return domain_start(NULL, &attributes);
}

static uint64_t start_wide(const wchar_t *wide)
{
    char text[TEXT_BYTES];

    return start(narrow(wide, text));
}

static int push_ex(const struct attributes *attributes)
{
    return domain_push(NULL, attributes);
}

static int push(const char *text)
{
    const struct attributes attributes = plain(text);

    return domain_push(NULL, &attributes);
}

static int push_wide(const wchar_t *wide)
{
    char text[TEXT_BYTES];

    return push(narrow(wide, text));
}

static int pop(void)
{
    return domain_pop(NULL);
}

static void name_category(uint32_t number, const char *name)
{
    domain_name_category(NULL, number, name);
}

static void name_category_wide(uint32_t number, const wchar_t *name)
{
    domain_name_category_wide(NULL, number, name);
}

/* Another thread's name is not ours to give. */
static void name_thread(uint32_t tid, const char *name)
{
    if ((pid_t)tid == gettid())
        isoscope_thread_register(name);
}

static void name_thread_wide(uint32_t tid, const wchar_t *name)
{
    char text[TEXT_BYTES];

    name_thread(tid, narrow(name, text));
}

/* ---- the tables, by NVTX's numbers ---- */

static const function core[] = {
    NULL,
    (function)mark_ex,
    (function)mark,
    (function)mark_wide,
    (function)start_ex,
    (function)start,
    (function)start_wide,
    (function)range_end,
    (function)push_ex,
    (function)push,
    (function)push_wide,
    (function)pop,
    (function)name_category,
    (function)name_category_wide,
    (function)name_thread,
    (function)name_thread_wide,
};

static const function core2[] = {
    NULL,
    (function)domain_mark,
    (function)domain_start,
    (function)domain_end,
    (function)domain_push,
    (function)domain_pop,
    NULL, /* resources */
    NULL,
    (function)domain_name_category,
    (function)domain_name_category_wide,
    (function)domain_register,
    (function)domain_register_wide,
    (function)domain_create,
    (function)domain_create_wide,
    NULL, /* a domain's end */
    NULL,
};

static bool fill(const struct callbacks *callbacks, int module, const function *functions,
                 unsigned int count)
{
    function **table = NULL;
    unsigned int size = 0;

    if (!callbacks->table_of(module, &table, &size) || !table)
        return false;
    for (unsigned int i = 1; i < count && i < size; i++)
        if (functions[i] && table[i])
            *table[i] = functions[i];
    return true;
}

EXPORT int InitializeInjectionNvtx2(const void *(*export_table)(uint32_t id));
EXPORT int InitializeInjectionNvtx2(const void *(*export_table)(uint32_t id))
{
    const struct callbacks *callbacks = export_table ? export_table(EXPORT_CALLBACKS) : NULL;

    if (!callbacks || callbacks->struct_size < sizeof *callbacks)
        return 0;
    return fill(callbacks, MODULE_CORE, core, sizeof core / sizeof core[0]) &&
           fill(callbacks, MODULE_CORE2, core2, sizeof core2 / sizeof core2[0]);
}
