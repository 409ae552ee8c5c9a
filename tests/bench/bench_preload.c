/*
 * bench_preload.c - a sampler as plain as can be, to compare what goes into one: preloaded, it
 * ticks each thread as isoscope does and does in the handler what BENCH_WAY says.
 *
 *   BENCH_WAY       nothing    the tick alone: what the kernel's part costs
 *                   tables     isoscope's unwinder
 *                   libunwind  unw_init_local2 and unw_step
 *                   both       both on the same sample, compared frame by frame and timed; for
 *                              single-threaded programs
 *   BENCH_PERIOD_US CPU time between two ticks
 *   BENCH_SIGTRAP   set: the tick comes as a synchronous SIGTRAP, else by F_SETSIG
 *   BENCH_USER_ONLY set: no ticks in the kernel
 *   BENCH_OUT       file for the results, one JSON object, written when the program exits
 *
 * Whatever the way, a sample is two clock reads and its frames in a buffer of a ring's size.
 * Both: the ways take turns in being first, and only the first is timed: it finds the stack as cold
 * as the program left it. The clock is the thread's CPU clock, its own cost taken off.
 */
#include "unwinders.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { RING_BYTES = 32 * 1024, RING_DEPTH = 512, DIFFERENCES_MAX = 8 };

extern void *__libc_stack_end;

enum way { NOTHING, TABLES, LIBUNWIND, BOTH };
static const char *const way_names[] = { "nothing", "tables", "libunwind", "both" };

struct times {
    uint64_t count, ns;
};

static struct {
    enum way way;
    bool on;
    _Atomic bool stopped;
    uint64_t period_ns;
    _Atomic uint64_t samples;
    uint64_t identical, tables_root, libunwind_root, frames, relearnt;
    struct times tables, libunwind;
    uint32_t differences;
    struct walk different[DIFFERENCES_MAX][2];
} bench;

static atomic_flag learning = ATOMIC_FLAG_INIT;

struct ring_slot {
    uint64_t cpu_ns, now_ns, depth;
    uint64_t pcs[RING_DEPTH];
};

struct own {
    struct stack_range stack;
    struct outer_frames outer_frames;
    uint32_t at;
    struct ring_slot ring[RING_BYTES / sizeof(struct ring_slot)];
};

static _Thread_local struct own own __attribute__((tls_model("initial-exec")));

static uint64_t clock_read(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* ---- the tick ---- */

static void take(enum way way, const ucontext_t *context, struct walk *walk)
{
    struct ring_slot *slot = &own.ring[own.at++ % (sizeof(own.ring) / sizeof(own.ring[0]))];

    slot->cpu_ns = clock_read(CLOCK_THREAD_CPUTIME_ID);
    slot->now_ns = clock_read(CLOCK_MONOTONIC);
    if (way == TABLES)
        walk_by_tables(context, &own.stack, &own.outer_frames, walk);
    else
        walk_by_libunwind(context, walk);
    slot->depth = walk->depth < RING_DEPTH ? walk->depth : RING_DEPTH;
    memcpy(slot->pcs, walk->pcs, slot->depth * sizeof(slot->pcs[0]));
}

static void timed(enum way way, const ucontext_t *context, struct walk *walk, struct times *times)
{
    uint64_t empty = clock_read(CLOCK_THREAD_CPUTIME_ID);
    uint64_t start = clock_read(CLOCK_THREAD_CPUTIME_ID);
    uint64_t end;

    take(way, context, walk);
    end = clock_read(CLOCK_THREAD_CPUTIME_ID);
    times->count++;
    times->ns += end - start - (start - empty);
}

/* What was loaded since is looked up at once: libunwind asks the loader at every sample. */
static bool learnt(const struct walk *walk)
{
    if (!walk->unknown_code || atomic_flag_test_and_set(&learning))
        return false;
    unwinders_learn();
    atomic_flag_clear(&learning);
    return true;
}

static void compare(const struct walk *tables, const struct walk *libunwind)
{
    bool equal = walks_equal(tables, libunwind);

    bench.identical += equal;
    bench.tables_root += tables->root;
    bench.libunwind_root += libunwind->root;
    bench.frames += tables->depth;
    if (equal || bench.differences == DIFFERENCES_MAX)
        return;
    bench.different[bench.differences][0] = *tables;
    bench.different[bench.differences][1] = *libunwind;
    bench.differences++;
}

static void take_both(const ucontext_t *context)
{
    struct walk tables, libunwind;

    if (bench.samples % 2) {
        timed(TABLES, context, &tables, &bench.tables);
        take(LIBUNWIND, context, &libunwind);
    } else {
        timed(LIBUNWIND, context, &libunwind, &bench.libunwind);
        take(TABLES, context, &tables);
    }
    if (learnt(&tables)) {
        bench.relearnt++;
        walk_by_tables(context, &own.stack, &own.outer_frames, &tables);
    }
    walk_resolve(&tables);
    compare(&tables, &libunwind);
}

static void on_tick(int number, siginfo_t *info, void *context)
{
    int errno_before = errno;
    struct walk walk;

    (void)number;
    (void)info;
    if (atomic_load(&bench.stopped))
        return;
    if (bench.way == BOTH)
        take_both(context);
    else if (bench.way != NOTHING)
        take(bench.way, context, &walk);
    if (bench.way == TABLES)
        learnt(&walk);
    atomic_fetch_add_explicit(&bench.samples, 1, memory_order_relaxed);
    errno = errno_before;
}

/* ---- threads and their timers ---- */

static int tick_signal(void)
{
    return getenv("BENCH_SIGTRAP") ? SIGTRAP : SIGPROF;
}

static int timer_start(void)
{
    struct f_owner_ex owner = { F_OWNER_TID, (int)syscall(SYS_gettid) };
    struct perf_event_attr attr = { .size = sizeof(attr),
                                    .type = PERF_TYPE_SOFTWARE,
                                    .config = PERF_COUNT_SW_TASK_CLOCK,
                                    .sample_period = bench.period_ns,
                                    .disabled = 1,
                                    .exclude_kernel = getenv("BENCH_USER_ONLY") != NULL,
                                    .exclude_hv = 1,
                                    .wakeup_events = 1 };
    int fd;

    attr.sigtrap = attr.remove_on_exec = tick_signal() == SIGTRAP;
    fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0) {
        perror("bench_preload: perf_event_open");
        return -1;
    }
    if (!attr.sigtrap) {
        fcntl(fd, F_SETOWN_EX, &owner);
        fcntl(fd, F_SETSIG, tick_signal());
        fcntl(fd, F_SETFL, O_ASYNC | O_NONBLOCK);
    }
    ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
    return fd;
}

static void know_stack(void)
{
    pthread_attr_t attr;
    void *low;
    size_t bytes;

    if (pthread_getattr_np(pthread_self(), &attr) != 0)
        return;
    pthread_attr_getstack(&attr, &low, &bytes);
    pthread_attr_destroy(&attr);
    own.stack.low = (uint64_t)low;
    own.stack.high = (uint64_t)low + bytes;
}

struct thread_start {
    void *(*body)(void *);
    void *argument;
};

static void *thread_main(void *given)
{
    struct thread_start start = *(struct thread_start *)given;
    void *result;
    int fd;

    free(given);
    know_stack();
    fd = timer_start();
    result = start.body(start.argument);
    close(fd);
    return result;
}

__attribute__((visibility("default"))) int
pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*body)(void *), void *argument)
{
    int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    struct thread_start *start;

    *(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
    start = bench.on ? malloc(sizeof(*start)) : NULL;
    if (!start)
        return real(thread, attr, body, argument);
    *start = (struct thread_start){ body, argument };
    return real(thread, attr, thread_main, start);
}

/* ---- beginning and end ---- */

static bool read_environment(void)
{
    const char *way = getenv("BENCH_WAY");
    const char *period = getenv("BENCH_PERIOD_US");

    for (unsigned i = 0; way && i < sizeof(way_names) / sizeof(way_names[0]); i++)
        if (!strcmp(way, way_names[i])) {
            bench.way = (enum way)i;
            bench.period_ns = period ? strtoull(period, NULL, 10) * 1000 : 0;
        }
    return bench.period_ns > 0;
}

__attribute__((constructor)) static void start(void)
{
    struct sigaction action = { .sa_sigaction = on_tick,
                                .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK };

    if (!read_environment() ||
        (bench.way != NOTHING && !unwinders_open(bench.way == LIBUNWIND || bench.way == BOTH)))
        return;
    sigaction(tick_signal(), &action, NULL);
    know_stack();
    own.stack.root = (uint64_t)__libc_stack_end;
    bench.on = true;
    timer_start();
}

static void put_pcs(FILE *out, const struct walk *walk)
{
    char name[256];

    fprintf(out, "[");
    for (uint32_t i = 0; i < walk->depth; i++) {
        unwinders_name(walk->pcs[i], name, sizeof(name));
        fprintf(out, "%s\"%s\"", i ? ", " : "", name);
    }
    fprintf(out, "]");
}

static void put_times(FILE *out, const char *name, const struct times *times)
{
    fprintf(out, ", \"%s_us\": %.3f", name,
            times->count ? (double)times->ns / 1000.0 / (double)times->count : 0.0);
}

static void put_differences(FILE *out)
{
    fprintf(out, ", \"differences\": [");
    for (uint32_t i = 0; i < bench.differences; i++) {
        fprintf(out, "%s{\"end\": %d, \"tables\": ", i ? ", " : "", bench.different[i][0].end);
        put_pcs(out, &bench.different[i][0]);
        fprintf(out, ", \"libunwind_root\": %s, \"libunwind\": ",
                bench.different[i][1].root ? "true" : "false");
        put_pcs(out, &bench.different[i][1]);
        fprintf(out, "}");
    }
    fprintf(out, "]");
}

__attribute__((destructor)) static void finish(void)
{
    const char *path = getenv("BENCH_OUT");
    FILE *out;

    atomic_store(&bench.stopped, true);
    out = bench.on && path ? fopen(path, "w") : NULL;
    if (!out)
        return;
    fprintf(out, "{\"samples\": %lu", (unsigned long)bench.samples);
    if (bench.way == BOTH) {
        fprintf(out, ", \"identical\": %lu, \"tables_root\": %lu, \"libunwind_root\": %lu",
                (unsigned long)bench.identical, (unsigned long)bench.tables_root,
                (unsigned long)bench.libunwind_root);
        fprintf(out, ", \"frames\": %lu, \"relearnt\": %lu", (unsigned long)bench.frames,
                (unsigned long)bench.relearnt);
        put_times(out, "tables", &bench.tables);
        put_times(out, "libunwind", &bench.libunwind);
        put_differences(out);
    }
    fprintf(out, "}\n");
    fclose(out);
}
