/*
 * preload.c - where the program meets the sampler: its start, its threads, its forks, its modules.
 *
 * Preloaded, the library starts by itself when ISOSCOPE_SOCKET names a service; linked, when
 * isoscope_start is called. What is wrapped here does what libc's own does, and tells the sampler.
 */
#include "preload.h"

#include "beside.h"
#include "cooperate.h"
#include "loop_calls.h"
#include "own_malloc.h"
#include "thread_end.h"

#include "../../feed/sys.h"
#include "../../include/isoscope/isoscope.h"
#include "../modules/start_objects.h"
#include "../events/event_thread.h"
#include "../forked.h"
#include "../own_rates.h"
#include "../page_faults.h"
#include "../sampler.h"
#include "../system/glibc.h"
#include "../threads/tasks.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>

enum { MAIN_STACK_BYTES_MAX = 1 << 30 };

extern void *__dso_handle;

static pthread_once_t prepared = PTHREAD_ONCE_INIT;
static int prepare_error;

/* ---- stacks ---- */

/* The kernel puts the program's name last, at the very end of the main thread's stack. */
static uint64_t main_stack_end(void)
{
    const char *name = (const char *)getauxval(AT_EXECFN);
    uint64_t last = name ? (uint64_t)name + strlen(name) : (uint64_t)__libc_stack_end;

    return (last + 4096) & ~4095ul;
}

static struct stack_range main_stack(void)
{
    struct rlimit limit;
    uint64_t bytes = MAIN_STACK_BYTES_MAX;
    struct stack_range stack = { .high = main_stack_end(), .root = (uint64_t)__libc_stack_end };

    if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < bytes)
        bytes = limit.rlim_cur;
    stack.low = stack.high - bytes;
    return stack;
}

static struct stack_range thread_stack(void)
{
    struct stack_range stack = { 0 };
    pthread_attr_t attr;
    void *low;
    size_t bytes;

    if (pthread_getattr_np(pthread_self(), &attr) != 0)
        return stack;
    if (pthread_attr_getstack(&attr, &low, &bytes) == 0) {
        stack.low = (uint64_t)low;
        stack.high = stack.low + bytes;
    }
    pthread_attr_destroy(&attr);
    return stack;
}

/* ---- threads ---- */

static void enter(void)
{
    struct stack_range stack = thread_stack();

    cooperate_enter(threads_take(&sampler.threads, sys_gettid(), &stack, false));
}

/* Runs when a thread ends, in whatever way it does. */
static void leave(uint32_t slot)
{
    event_thread_forget();
    loop_calls_thread_ends();
    if (!sampler_enter())
        return;
    tasks_own_name(&sampler.threads, slot);
    if (threads_leave(&sampler.threads, slot))
        sampler_ask_service();
    sampler_leave();
}

struct thread_start {
    void *(*body)(void *);
    void *argument;
};

static void *thread_main(void *given)
{
    struct thread_start start = *(struct thread_start *)given;

    free(given);
    if (sampler_enter()) {
        enter();
        sampler_leave();
    }
    return start.body(start.argument); /* a jump: no frame of ours stays on the stack */
}

static int (*next_pthread_create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
static int (*next_dlclose)(void *);

ISOSCOPE_API int pthread_create(pthread_t *thread, const pthread_attr_t *attr,
                                void *(*body)(void *), void *argument)
{
    struct thread_start *start;
    int error;

    FIND_NEXT(pthread_create);
    forked_begin();
    start = sampler_running() ? malloc(sizeof *start) : NULL;
    if (!start)
        return NEXT(pthread_create)(thread, attr, body, argument);
    thread_end_begin();
    thread_end_tell(cooperate_slot());
    *start = (struct thread_start){ body, argument };
    error = NEXT(pthread_create)(thread, attr, thread_main, start);
    if (error)
        free(start);
    return error;
}

/* ---- modules ---- */

/* Told before, so that no row of what goes is believed from now on; told after, so that what was
 * seen in between is looked at again. */
ISOSCOPE_API int dlclose(void *handle)
{
    int result;

    FIND_NEXT(dlclose);
    sampler_modules_go();
    result = NEXT(dlclose)(handle);
    sampler_modules_go();
    return result;
}

/* ---- forks ---- */

static void fork_prepare(void)
{
    cooperate_fork_prepare();
    sampler_fork_prepare();
}

static void fork_parent(void)
{
    sampler_fork_parent();
    cooperate_fork_done();
}

static void fork_child(void)
{
    uint32_t slot = sampler_fork_child(cooperate_slot());

    if (!slot)
        cooperate_stopped();
    cooperate_enter(slot);
    event_thread_forget();
    loop_calls_fork_child();
    cooperate_fork_done();
}

/* ---- start ---- */

static void prepare(void)
{
    preload_find_signal_calls();
    thread_end_hear(leave);
    prepare_error = __register_atfork(fork_prepare, fork_parent, fork_child, &__dso_handle);
}

/* 0: it says nothing that can be. Without strtol, whose locale is a page that a short program has
 * no other use for. */
static uint32_t number_from_env(const char *name, uint32_t most)
{
    const char *text = getenv(name);
    uint64_t number = 0;

    for (; text && *text >= '0' && *text <= '9' && number <= most; text++)
        number = number * 10 + (uint64_t)(*text - '0');
    return number <= most ? (uint32_t)number : 0;
}

static uint32_t period_from_env(void)
{
    uint32_t period_us = number_from_env(FEED_ENV_PERIOD, FEED_PERIOD_MAX_US);

    return period_us >= FEED_PERIOD_MIN_US && period_us <= FEED_PERIOD_MAX_US
               ? period_us
               : FEED_PERIOD_DEFAULT_US;
}

static enum feed_timer_wish timer_from_env(void)
{
#define WISH_WORD(name, word) [FEED_TIMER_WISH_##name] = word,
    static const char *const words[] = { FEED_TIMER_WISHES(WISH_WORD) };
#undef WISH_WORD
    const char *text = getenv(FEED_ENV_TIMER);

    for (int wish = 0; text && wish < FEED_TIMER_WISH_COUNT; wish++)
        if (!strcmp(text, words[wish]))
            return (enum feed_timer_wish)wish;
    return FEED_TIMER_WISH_AUTO;
}

static enum feed_watch watch_from_env(void)
{
#define WATCH_WORD(name, word) [FEED_WATCH_##name] = word,
    static const char *const words[] = { FEED_WATCHES(WATCH_WORD) };
#undef WATCH_WORD
    const char *text = getenv(FEED_ENV_WATCH_LOOPS);

    for (int watch = 0; text && watch < FEED_WATCH_COUNT; watch++)
        if (!strcmp(text, words[watch]))
            return (enum feed_watch)watch;
    return FEED_WATCH_AUTO;
}

static int start_options(struct sampler_start_options *out, const struct isoscope_options *given)
{
    const char *socket = given && given->socket ? given->socket : getenv(FEED_ENV_SOCKET);
    const char *enabled = getenv(FEED_ENV_ENABLED);
    size_t length = socket ? strlen(socket) : 0;

    memset(out, 0, sizeof *out);
    if (!length)
        return -ISOSCOPE_NO_SERVICE;
    if (length >= sizeof out->address.path ||
        (given && (given->struct_size < sizeof *given ||
                   (given->period_us && (given->period_us < FEED_PERIOD_MIN_US ||
                                         given->period_us > FEED_PERIOD_MAX_US)))))
        return -ISOSCOPE_INVALID;
    memcpy(out->address.path, socket, length + 1);
    memcpy(out->address.tables, socket, length);
    memcpy(out->address.tables + length, FEED_TABLES_SUFFIX, sizeof FEED_TABLES_SUFFIX);
    out->uid = (uint32_t)getauxval(AT_EUID);
    out->period_us = given && given->period_us ? given->period_us : period_from_env();
    out->timer = timer_from_env();
    out->watch = watch_from_env();
    out->enabled = !enabled || strcmp(enabled, "0") != 0;
    return 0;
}

/* Its processor is made of software: a tick would meet that, not the program. */
static bool runs_below_valgrind(void)
{
    const char *preloads = getenv("LD_PRELOAD");

    return preloads && strstr(preloads, "/vgpreload_");
}

/* late: called by the program, or for it, and not before it began. */
static int begin(const struct isoscope_options *options, bool late)
{
    struct sampler_start_options start;
    struct stack_range stack;
    uint32_t slot = 0;
    int error;

    if (getauxval(AT_SECURE))
        return -ISOSCOPE_SECURE;
    if (!glibc_is_here() || runs_below_valgrind() || start_objects_are_go_alone())
        return -ISOSCOPE_FOREIGN;
    forked_begin();
    if (sampler_has_ticks())
        return 0;
    error = start_options(&start, options);
    if (error)
        return error;
    start.late = late;
    pthread_once(&prepared, prepare);
    if (prepare_error)
        return -ISOSCOPE_SYSTEM;
    own_rates_prepare_allocations(
        start.enabled ? number_from_env(FEED_ENV_ALLOC, FEED_ALLOCATION_BYTES_MAX) : 0,
        beside_alloc_filter(), program_has_own_malloc());
    page_faults_prepare(number_from_env(FEED_ENV_FAULTS, FEED_FAULTS_MAX));
    own_rates_prepare_waits(start.enabled ? number_from_env(FEED_ENV_LOCK, FEED_LOCK_US_MAX) : 0,
                            beside_lock_calls() != NULL);
    stack = sys_gettid() == (int)sys_call0(SYS_getpid) ? main_stack() : thread_stack();
    error = sampler_start(&start, &stack, &slot);
    if (error)
        return error;
    cooperate_started();
    cooperate_enter(slot);
    return 0;
}

int isoscope_start(const struct isoscope_options *options)
{
    return begin(options, true);
}

void isoscope_stop(void)
{
    forked_begin();
    loop_calls_stop();
    cooperate_stopped();
    sampler_stop();
}

const char *isoscope_strerror(int error)
{
#define ERROR_TEXT(name, text) [ISOSCOPE_##name] = text,
    static const char *const texts[] = { [ISOSCOPE_OK] = "no error", ISOSCOPE_ERRORS(ERROR_TEXT) };
#undef ERROR_TEXT
    int index = error < 0 ? -error : error;

    return index < ISOSCOPE_ERROR_COUNT ? texts[index] : "unknown error";
}

/* A program with gcc's address sanitizer does not start when a library comes before the
 * sanitizer's, as a preload does; it works all the same. It asks for this function, and takes the
 * program's own if there is one. https://github.com/google/sanitizers/wiki/AddressSanitizerFlags */
ISOSCOPE_API const char *__asan_default_options(void) __attribute__((weak));
ISOSCOPE_API const char *__asan_default_options(void)
{
    return "verify_asan_link_order=0";
}

/* A program whose service does not answer runs on untouched, and silently: it is not ours. */
__attribute__((constructor)) static void preloaded(void)
{
    if (!glibc_is_here())
        return;
    start_objects_note();
    preload_find_syscall();
    if (getenv(FEED_ENV_SOCKET))
        begin(NULL, false);
}

/* What the last tick noted may be old. */
__attribute__((destructor)) static void ends(void)
{
    if (sampler_running())
        sampler_note_cpu_time();
}
