/*
 * itt.c - Intel's Instrumentation and Tracing Technology: what programs tell it becomes events.
 *
 * A program that is built with ITT has its static part, which loads the library that
 * INTEL_LIBITTNOTIFY64 names, with the first call, and asks it by __itt_api_init to put its functions
 * into a table. What we do not take stays the static part's own "does nothing".
 *
 * A domain is a stream. Tasks are slices; overlapped tasks and regions are asynchronous; frames are
 * frames; counters have one series, "value". What comes while the program has paused the collection
 * (__itt_pause) is left out.
 */
#include "told.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

/* ---- the ABI: what ittnotify.h lays down ---- */

struct itt_domain {
    volatile int flags; /* not 0: enabled */
    const char *name;
    void *wide_name;
    int extra1;
    void *extra2;
    struct itt_domain *next;
};

struct itt_string {
    const char *text;
    void *wide_text;
    int extra1;
    void *extra2;
    struct itt_string *next;
};

struct itt_id {
    unsigned long long d1, d2, d3;
};

struct itt_function {
    const char *name;
    void **place;
    void *initial, *null;
    int group;
};

struct itt_global {
    unsigned char magic[8];
    unsigned long version[3];
    volatile long initialized[3];
    pthread_mutex_t mutex;
    void *library, *error_handler;
    const char **path;
    struct itt_function *functions; /* up to one without a name */
};

enum itt_type {
    TYPE_UNKNOWN,
    TYPE_U64,
    TYPE_S64,
    TYPE_U32,
    TYPE_S32,
    TYPE_U16,
    TYPE_S16,
    TYPE_FLOAT,
    TYPE_DOUBLE
};

/* ---- names ---- */

static _Atomic bool paused;

static struct itt_domain *domain_create(const char *name)
{
    struct itt_domain *domain = calloc(1, sizeof *domain);

    if (!domain)
        return NULL;
    domain->name = strdup(name ? name : "ITT");
    domain->flags = domain->name != NULL;
    return domain;
}

static struct itt_string *string_create(const char *text)
{
    struct itt_string *string = calloc(1, sizeof *string);

    if (string)
        string->text = strdup(text ? text : "");
    return string;
}

static struct isoscope_site *site_of(const struct itt_domain *domain,
                                     const struct itt_string *string)
{
    return told_site(domain->name, string && string->text ? string->text : "");
}

static bool listens(const struct itt_domain *domain)
{
    return domain && domain->flags && domain->name &&
           !atomic_load_explicit(&paused, memory_order_relaxed) && ISOSCOPE_STREAMS_ON;
}

static struct told_id id_of(const struct itt_domain *domain, struct itt_id id)
{
    return (struct told_id){ domain, { id.d1, id.d2, id.d3 } };
}

/* ---- tasks ---- */

static void begin(struct isoscope_site *site)
{
    if (ISOSCOPE_IS_ON(site))
        isoscope_event_begin(site, NULL, 0);
}

static void task_begin(const struct itt_domain *domain, struct itt_id id, struct itt_id parent,
                       struct itt_string *name)
{
    (void)id;
    (void)parent;
    if (listens(domain))
        begin(site_of(domain, name));
}

static void task_end(const struct itt_domain *domain)
{
    struct isoscope_site *site;

    if (!listens(domain))
        return;
    site = told_site(domain->name, "");
    if (ISOSCOPE_IS_ON(site))
        isoscope_event_end(site);
}

static void async_begin(const struct itt_domain *domain, struct itt_id id, struct itt_id parent,
                        struct itt_string *name)
{
    struct told_id key = id_of(domain, id);
    struct isoscope_site *site;

    (void)parent;
    if (!listens(domain))
        return;
    site = site_of(domain, name);
    if (told_keep(&key, site, 0))
        told_event(site, ISOSCOPE_EVENT_ASYNC_BEGIN, told_number(&key));
}

static void async_end(const struct itt_domain *domain, struct itt_id id)
{
    struct told_id key = id_of(domain, id);
    uint64_t start_ns;
    struct isoscope_site *site = told_take(&key, &start_ns);

    if (site)
        told_event(site, ISOSCOPE_EVENT_ASYNC_END, told_number(&key));
}

static void marker(const struct itt_domain *domain, struct itt_id id, struct itt_string *name,
                   int scope)
{
    (void)id;
    (void)scope;
    if (listens(domain))
        told_event(site_of(domain, name), ISOSCOPE_EVENT_INSTANT, 0);
}

/* ---- frames ---- */

static void frame(uint64_t start_ns, uint64_t end_ns)
{
    static _Atomic uint64_t number;
    const struct isoscope_frame told = {
        .struct_size = sizeof told,
        .number = atomic_fetch_add(&number, 1) + 1,
        .start_ns = start_ns,
        .elapsed_ns = end_ns > start_ns ? end_ns - start_ns : 0,
    };

    isoscope_event_frame(&told);
}

static struct told_id frame_id(const struct itt_domain *domain, const struct itt_id *id)
{
    return id_of(domain, id ? *id : (struct itt_id){ ~0ull, 0, 0 });
}

static void frame_begin(const struct itt_domain *domain, struct itt_id *id)
{
    struct told_id key = frame_id(domain, id);

    if (listens(domain))
        told_keep(&key, told_site(domain->name, ""), isoscope_event_now_ns());
}

static void frame_end(const struct itt_domain *domain, struct itt_id *id)
{
    struct told_id key = frame_id(domain, id);
    uint64_t start_ns;

    if (told_take(&key, &start_ns))
        frame(start_ns, isoscope_event_now_ns());
}

static unsigned long long timestamp(void)
{
    return isoscope_event_now_ns();
}

static void frame_submit(const struct itt_domain *domain, struct itt_id *id,
                         unsigned long long start, unsigned long long end)
{
    (void)id;
    if (listens(domain))
        frame(start, end ? end : isoscope_event_now_ns());
}

/* ---- counters ---- */

struct counter {
    struct isoscope_site *site;
    enum itt_type type;
    _Atomic int64_t value; /* of those that are counted up and down */
};

static void *counter_typed(const char *name, const char *domain, int type)
{
    struct counter *counter = calloc(1, sizeof *counter);

    if (!counter)
        return NULL;
    counter->site = told_site(domain && *domain ? domain : "ITT", name ? name : "");
    counter->type = (enum itt_type)type;
    return counter;
}

static void *counter_create(const char *name, const char *domain)
{
    return counter_typed(name, domain, TYPE_U64);
}

static void counter_tell(struct isoscope_site *site, const struct isoscope_argument *value)
{
    const struct isoscope_event event = { .struct_size = sizeof event,
                                          .kind = ISOSCOPE_EVENT_COUNTER,
                                          .arguments = value,
                                          .argument_count = 1 };

    if (!atomic_load_explicit(&paused, memory_order_relaxed) && ISOSCOPE_IS_ON(site))
        isoscope_event_tell(site, &event);
}

static void tell_integer(struct isoscope_site *site, int64_t integer)
{
    counter_tell(site, &(const struct isoscope_argument)ISOSCOPE_INT("value", integer));
}

#define INTEGER_CASE(type, of)                                                                     \
    case type: {                                                                                   \
        of integer;                                                                                \
                                                                                                   \
        memcpy(&integer, value, sizeof integer);                                                   \
        tell_integer(counter->site, (int64_t)integer);                                             \
        break;                                                                                     \
    }
#define NUMBER_CASE(type, of)                                                                      \
    case type: {                                                                                   \
        of number;                                                                                 \
                                                                                                   \
        memcpy(&number, value, sizeof number);                                                     \
        counter_tell(counter->site,                                                                \
                     &(const struct isoscope_argument)ISOSCOPE_DOUBLE("value", number));           \
        break;                                                                                     \
    }

static void counter_set(void *handle, void *value)
{
    struct counter *counter = handle;

    if (!counter || !value)
        return;
    switch (counter->type) {
        INTEGER_CASE(TYPE_U64, uint64_t)
        INTEGER_CASE(TYPE_S64, int64_t)
        INTEGER_CASE(TYPE_U32, uint32_t)
        INTEGER_CASE(TYPE_S32, int32_t)
        INTEGER_CASE(TYPE_U16, uint16_t)
        INTEGER_CASE(TYPE_S16, int16_t)
        NUMBER_CASE(TYPE_FLOAT, float)
        NUMBER_CASE(TYPE_DOUBLE, double)
    case TYPE_UNKNOWN:
        break;
    }
}

static void counter_move(void *handle, int64_t by)
{
    struct counter *counter = handle;

    if (counter)
        tell_integer(counter->site, atomic_fetch_add(&counter->value, by) + by);
}

static void counter_inc(void *handle)
{
    counter_move(handle, 1);
}

static void counter_inc_delta(void *handle, unsigned long long by)
{
    counter_move(handle, (int64_t)by);
}

static void counter_dec(void *handle)
{
    counter_move(handle, -1);
}

static void counter_dec_delta(void *handle, unsigned long long by)
{
    counter_move(handle, -(int64_t)by);
}

/* ---- events of the old kind, threads, control ---- */

enum { OLD_EVENTS_MAX = 4096 };
static struct isoscope_site *_Atomic old_events[OLD_EVENTS_MAX];
static _Atomic int old_event_count;

static int event_create(const char *name, int bytes)
{
    int number = atomic_fetch_add(&old_event_count, 1);
    char *copy = number < OLD_EVENTS_MAX && bytes >= 0 ? strndup(name, (size_t)bytes) : NULL;

    if (!copy)
        return -1;
    old_events[number] = told_site("ITT", copy);
    free(copy);
    return number;
}

static struct isoscope_site *old_event(int number)
{
    struct isoscope_site *site = number >= 0 && number < OLD_EVENTS_MAX ? old_events[number] : NULL;

    return site && !atomic_load_explicit(&paused, memory_order_relaxed) && ISOSCOPE_IS_ON(site)
               ? site
               : NULL;
}

static int event_start(int number)
{
    struct isoscope_site *site = old_event(number);

    if (site)
        isoscope_event_begin(site, NULL, 0);
    return 0;
}

static int event_end(int number)
{
    struct isoscope_site *site = old_event(number);

    if (site)
        isoscope_event_end(site);
    return 0;
}

static void thread_set_name(const char *name)
{
    isoscope_thread_register(name);
}

static void pause_collection(void)
{
    atomic_store(&paused, true);
}

static void resume_collection(void)
{
    atomic_store(&paused, false);
}

/* Who asks this wants to know whether anybody listens (OpenCV does), and gets NULL where nobody does. */
static const char *api_version(void)
{
    return "isoscope";
}

/* ---- the table ---- */

#define TAKEN(name, function)                                                                      \
    {                                                                                              \
        "__itt_" #name, (void *)(function)                                                         \
    }
static const struct taken {
    const char *name;
    void *function;
} taken[] = {
    TAKEN(api_version, api_version),
    TAKEN(domain_create, domain_create),
    TAKEN(string_handle_create, string_create),
    TAKEN(task_begin, task_begin),
    TAKEN(task_end, task_end),
    TAKEN(task_begin_overlapped, async_begin),
    TAKEN(task_end_overlapped, async_end),
    TAKEN(region_begin, async_begin),
    TAKEN(region_end, async_end),
    TAKEN(marker, marker),
    TAKEN(frame_begin_v3, frame_begin),
    TAKEN(frame_end_v3, frame_end),
    TAKEN(frame_submit_v3, frame_submit),
    TAKEN(get_timestamp, timestamp),
    TAKEN(counter_create, counter_create),
    TAKEN(counter_create_typed, counter_typed),
    TAKEN(counter_set_value, counter_set),
    TAKEN(counter_inc, counter_inc),
    TAKEN(counter_inc_delta, counter_inc_delta),
    TAKEN(counter_dec, counter_dec),
    TAKEN(counter_dec_delta, counter_dec_delta),
    TAKEN(event_create, event_create),
    TAKEN(event_start, event_start),
    TAKEN(event_end, event_end),
    TAKEN(thread_set_name, thread_set_name),
    TAKEN(pause, pause_collection),
    TAKEN(resume, resume_collection),
};

static void *function_for(const struct itt_function *asked)
{
    for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++)
        if (strcmp(asked->name, taken[i].name) == 0)
            return taken[i].function;
    return asked->null;
}

/* groups: which of its functions the program wants; all of ours. */
EXPORT void __itt_api_init(struct itt_global *global, int groups);
EXPORT void __itt_api_init(struct itt_global *global, int groups)
{
    (void)groups;
    if (!global)
        return;
    for (struct itt_function *asked = global->functions; asked && asked->name; asked++)
        *asked->place = function_for(asked);
}
