/*
 * python_oracle.c - one interrupted stack of a Python program, twice: by isoscope's walker, and by CPython's own dump
 * from the same signal handler.
 *
 *   run_under.py (faulthandler.register) -> oracle_start -> SIGPROF: unwind, then faulthandler's handler
 *     -> oracle_finish: a text file, which compare.py reads
 *
 * Loaded into the program that is looked at, it has all of isoscope in it: finder, unwind tables, walker, feed. So nothing
 * lies between the two looks. Signals come by CPU time (ITIMER_PROF), to one thread at a time.
 *
 * The dump trusts what it reads, and may fault where a frame is being freed: then the sample is left out, and counted.
 * faulthandler gives none from then on; so where CPython exports what it calls, that is called instead.
 */
#include "sampler/capture/modules/modules.h"
#include "sampler/capture/runtimes/read_guard.h"
#include "sampler/capture/runtimes/runtime_scan.h"
#include "sampler/capture/unwind/unwind.h"
#include "sampler/feed/feed_reader.h"
#include "sampler/profile/naming/code_lines.h"
#include "sampler/profile/runtimes/finder.h"
#include "tests/unit/own_tables.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT int oracle_start(int dump_fd, long period_us);
EXPORT int oracle_finish(const char *path);

enum {
    KEPT_BYTES = 1 << 30, /* of address space */
    DEPTH_MAX = 1000,
    DUMP_MAX = 64 * 1024,
    LEARN_NS = 50 * 1000 * 1000,
    FIND_LOOKS = 2000,
};

/* One tick, and behind it frames and the dump's text. */
struct kept {
    uint32_t bytes; /* with what is behind it; a multiple of 8 */
    uint32_t depth, dump_bytes;
    uint32_t eval_frames; /* native frames of the eval function, when no runtime is looked at */
    uint32_t natives_differ;
    int32_t lock;     /* enum runtime_lock */
    int32_t has_lock; /* as CPython says */
    uint32_t task;    /* in names */
};

typedef void (*signal_handler)(int, siginfo_t *, void *);

static struct {
    struct feed_writer writer;
    struct feed_reader *reader;
    struct modules modules;
    struct code_cache cache;
    struct guarded_pages pages;
    struct runtime_texts texts;
    int (*gil_is_mine)(void);
    void (*dump)(int);
    void (*dump_state)(int, void *); /* NULL: it is not exported */
    void *(*own_state)(void);
    int dump_fd;
    uint8_t *kept;
    uint64_t used;
    uint64_t faults, busy, unknown, no_dump;
    _Atomic bool learn, stopped;
    pthread_t learner;
    struct sigaction segv_before, bus_before;
} oracle;

static atomic_flag taking = ATOMIC_FLAG_INIT;
static _Thread_local volatile sig_atomic_t dumping __attribute__((tls_model("initial-exec")));
static _Thread_local sigjmp_buf dump_ends __attribute__((tls_model("initial-exec")));

/* ---- the two looks ---- */

static uint64_t runtime_pc(const struct code_map *map, uint64_t frame)
{
    for (uint32_t i = 0; i < map->count; i++)
        if (map->ranges[i].number == FEED_FRAME_MODULE(frame))
            return FEED_FRAME_OFFSET(frame) + map->ranges[i].bias;
    return FEED_FRAME_OFFSET(frame);
}

static bool is_eval(const struct code_map *map, uint64_t frame)
{
    uint64_t pc = runtime_pc(map, frame);

    for (uint32_t i = 0; i < runtimes_used(&oracle.writer); i++)
        for (uint32_t r = 0; r < oracle.writer.runtimes[i].range_count; r++)
            if (pc >= oracle.writer.runtimes[i].ranges[r].start &&
                pc < oracle.writer.runtimes[i].ranges[r].end)
                return true;
    return false;
}

static void walk(const struct code_map *map, const ucontext_t *context, struct runtime_scan *scan,
                 uint64_t *frames, struct unwind_result *result)
{
    static const struct stack_range any; /* read through the kernel */
    static struct outer_frames outer;
    const struct unwind_request request = { .map = map,
                                            .stack = &any,
                                            .outer_frames = &outer,
                                            .context = context,
                                            .scan = scan,
                                            .frames_max = DEPTH_MAX };

    outer = (struct outer_frames){ .walked = 1 };
    unwind(&request, frames, result);
}

static bool begin_scan(struct runtime_scan *scan)
{
    *scan = (struct runtime_scan){ .writer = &oracle.writer,
                                   .cache = &oracle.cache,
                                   .texts = &oracle.texts,
                                   .tid = (int32_t)syscall(SYS_gettid),
                                   .thread_pointer = (uint64_t)pthread_self(),
                                   .wants = FEED_WANT_RUNTIMES | FEED_WANT_GIL | FEED_WANT_TASKS };
    guarded_memory_begin(&scan->memory, &oracle.pages, false);
    return runtime_scan_begin(scan);
}

/* Native frames are the same with and without the runtime's, but for the eval function's. */
static bool natives_differ(const struct code_map *map, const uint64_t *with, uint32_t with_depth,
                           const uint64_t *plain, uint32_t plain_depth)
{
    uint32_t at = 0;

    for (uint32_t i = 0; i < with_depth; i++) {
        if (FEED_FRAME_MODULE(with[i]) == FEED_MODULE_CODE || is_eval(map, with[i]))
            continue;
        while (at < plain_depth && is_eval(map, plain[at]))
            at++;
        if (at == plain_depth || plain[at] != with[i])
            return true;
        at++;
    }
    while (at < plain_depth && is_eval(map, plain[at]))
        at++;
    return at != plain_depth;
}

static bool look(const ucontext_t *context, struct kept *kept, uint64_t *frames)
{
    static uint64_t plain[DEPTH_MAX];
    static struct runtime_scan scan;
    struct unwind_result with = { 0 }, without = { 0 };
    uint32_t group;
    const struct code_map *map = code_map_enter(&oracle.modules.maps, &group);
    bool scans = begin_scan(&scan);

    walk(map, context, scans ? &scan : NULL, frames, &with);
    guarded_memory_end(&scan.memory);
    walk(map, context, NULL, plain, &without);
    kept->depth = with.depth;
    kept->lock = scan.lock;
    kept->task = scan.task;
    for (uint32_t i = 0; i < without.depth; i++)
        kept->eval_frames += is_eval(map, plain[i]);
    kept->natives_differ = natives_differ(map, frames, with.depth, plain, without.depth);
    code_map_leave(&oracle.modules.maps, group);
    if (with.unknown_code || without.unknown_code) {
        oracle.unknown++;
        atomic_store(&oracle.learn, true);
    }
    return !with.unknown_code && with.end == FEED_END_ROOT;
}

static void on_fault(int number, siginfo_t *info, void *context)
{
    struct sigaction *before = number == SIGSEGV ? &oracle.segv_before : &oracle.bus_before;

    if (read_guard_leave(context))
        return;
    if (dumping)
        siglongjmp(dump_ends, 1);
    sigaction(number, before, NULL); /* it comes again */
    (void)info;
}

static bool dump(struct kept *kept, char *text)
{
    void *state = oracle.own_state ? oracle.own_state() : NULL;
    ssize_t bytes;

    if (oracle.dump_state && !state)
        return false;
    if (ftruncate(oracle.dump_fd, 0) != 0 || lseek(oracle.dump_fd, 0, SEEK_SET) != 0)
        return false;
    if (sigsetjmp(dump_ends, 1)) {
        dumping = 0;
        oracle.faults++;
        return false;
    }
    dumping = 1;
    if (oracle.dump_state)
        oracle.dump_state(oracle.dump_fd, state);
    else
        oracle.dump(SIGPROF);
    dumping = 0;
    bytes = pread(oracle.dump_fd, text, DUMP_MAX, 0);
    if (bytes <= 0) {
        oracle.no_dump++;
        return false;
    }
    kept->dump_bytes = (uint32_t)bytes;
    return true;
}

static void take(const ucontext_t *context)
{
    struct kept *kept = (struct kept *)(oracle.kept + oracle.used);
    uint64_t *frames = (uint64_t *)(kept + 1);

    if (oracle.used + sizeof(*kept) + DEPTH_MAX * sizeof(uint64_t) + DUMP_MAX > KEPT_BYTES)
        return;
    *kept = (struct kept){ .has_lock = oracle.gil_is_mine ? oracle.gil_is_mine() : -1 };
    if (!look(context, kept, frames) || !dump(kept, (char *)(frames + kept->depth)))
        return;
    kept->bytes =
        (uint32_t)(sizeof(*kept) + kept->depth * sizeof(uint64_t) + ((kept->dump_bytes + 7) & ~7u));
    oracle.used += kept->bytes;
}

static void on_tick(int number, siginfo_t *info, void *context)
{
    int errno_before = errno;

    (void)number;
    (void)info;
    if (atomic_load(&oracle.stopped))
        return;
    if (atomic_flag_test_and_set(&taking)) {
        oracle.busy++;
        return;
    }
    take(context);
    atomic_flag_clear(&taking);
    errno = errno_before;
}

/* ---- beginning ---- */

static bool view_module(void *reader, uint32_t number, struct feed_module_view *out)
{
    return number < FEED_MODULES_MAX && feed_reader_module(reader, number, out);
}

static void find_runtime(void)
{
    const struct runtime_modules modules = { oracle.reader, view_module, oracle.reader };
    char executable[4096];
    ssize_t bytes = readlink("/proc/self/exe", executable, sizeof(executable) - 1);
    struct runtime_finder *finder;
    struct runtime_looks looks = { 0 };

    executable[bytes > 0 ? bytes : 0] = 0;
    if (runtime_finder_new(&finder, NULL))
        return;
    for (int64_t i = 0; i < FIND_LOOKS && !looks.told && !looks.unknown; i++)
        runtime_finder_look(finder, &looks, &modules, getpid(), executable, i * 1000000);
    if (!looks.told)
        fprintf(stderr, "oracle: no CPython that is known: %s\n", looks.reason);
    runtime_finder_free(finder);
}

/* What was loaded since. */
static void *learner(void *unused)
{
    (void)unused;
    while (!atomic_load(&oracle.stopped)) {
        nanosleep(&(struct timespec){ 0, LEARN_NS }, NULL);
        if (!atomic_exchange(&oracle.learn, false))
            continue;
        modules_refresh(&oracle.modules, &oracle.writer);
        own_tables(&oracle.modules, &oracle.writer);
    }
    return NULL;
}

static bool start_learner(void)
{
    sigset_t all, before;
    bool started;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    started = pthread_create(&oracle.learner, NULL, learner, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

static bool open_feed(void)
{
    int memfd;

    if (feed_writer_create(&oracle.writer, &memfd, getpid(), 1) ||
        feed_reader_open(&oracle.reader, memfd))
        return false;
    oracle.kept = mmap(NULL, KEPT_BYTES, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return oracle.kept != MAP_FAILED;
}

/* After faulthandler.register(SIGPROF, file=dump_fd, all_threads=False). Not 0: it cannot be. */
int oracle_start(int dump_fd, long period_us)
{
    struct sigaction tick = { .sa_sigaction = on_tick, .sa_flags = SA_SIGINFO | SA_RESTART };
    struct sigaction fault = { .sa_sigaction = on_fault,
                               .sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK };
    const struct itimerval period = { { 0, period_us }, { 0, period_us } };
    struct sigaction of_faulthandler;

    if (sigaction(SIGPROF, NULL, &of_faulthandler) || !open_feed())
        return 1;
    oracle.dump = of_faulthandler.sa_handler;
    oracle.dump_fd = dump_fd;
    *(void **)&oracle.own_state = dlsym(RTLD_DEFAULT, "PyGILState_GetThisThreadState");
    *(void **)&oracle.dump_state = dlsym(RTLD_DEFAULT, "_Py_DumpTraceback");
    *(void **)&oracle.gil_is_mine = dlsym(RTLD_DEFAULT, "PyGILState_Check");
    modules_new(&oracle.modules);
    modules_refresh(&oracle.modules, &oracle.writer);
    own_tables(&oracle.modules, &oracle.writer);
    find_runtime();
    if (!runtimes_used(&oracle.writer) || !start_learner())
        return 1;
    sigaction(SIGSEGV, &fault, &oracle.segv_before);
    sigaction(SIGBUS, &fault, &oracle.bus_before);
    sigaction(SIGPROF, &tick, NULL);
    return setitimer(ITIMER_PROF, &period, NULL);
}

/* ---- end ---- */

static void put_frame(FILE *out, const struct code_map *map, uint64_t frame)
{
    static uint8_t buffer[FEED_CODE_BYTES_MAX];
    uint32_t id = FEED_FRAME_CODE_ID(frame);
    struct feed_code_text code;

    if (FEED_FRAME_MODULE(frame) != FEED_MODULE_CODE)
        fprintf(out, "%s\n", is_eval(map, frame) ? "eval" : "native");
    else if (!feed_reader_code(oracle.reader, id, buffer, &code))
        fprintf(out, "python 0 ?\t?\n");
    else
        fprintf(out, "python %u %.*s\t%.*s\n", code_line(&code, FEED_FRAME_CODE_POSITION(frame)),
                (int)code.name_bytes, code.name, (int)code.file_bytes, code.file);
}

static void put_kept(FILE *out, const struct code_map *map, const struct kept *kept)
{
    static const char *const locks[] = { "unknown", "held", "wait" };
    const uint64_t *frames = (const uint64_t *)(kept + 1);
    char task[FEED_NAME_MAX + 1] = "";

    if (kept->task)
        feed_reader_name(oracle.reader, kept->task, task);
    fprintf(out, "sample %u %u %s %d %s\n", kept->eval_frames, kept->natives_differ,
            locks[kept->lock], kept->has_lock, task);
    for (uint32_t i = 0; i < kept->depth; i++)
        put_frame(out, map, frames[i]);
    fprintf(out, "dump\n%.*s\nend\n", (int)kept->dump_bytes, (const char *)(frames + kept->depth));
}

/* Not 0: the file cannot be written. */
int oracle_finish(const char *path)
{
    const struct itimerval none = { 0 };
    const struct code_map *map;
    uint32_t group;
    FILE *out;

    setitimer(ITIMER_PROF, &none, NULL);
    atomic_store(&oracle.stopped, true);
    pthread_join(oracle.learner, NULL);
    while (atomic_flag_test_and_set(&taking))
        nanosleep(&(struct timespec){ 0, LEARN_NS }, NULL);
    out = fopen(path, "w");
    if (!out)
        return 1;
    fprintf(out, "oracle %lu %lu %lu %lu\n", (unsigned long)oracle.faults,
            (unsigned long)oracle.busy, (unsigned long)oracle.unknown,
            (unsigned long)oracle.no_dump);
    map = code_map_enter(&oracle.modules.maps, &group);
    for (uint64_t at = 0; at < oracle.used;) {
        const struct kept *kept = (const struct kept *)(oracle.kept + at);

        put_kept(out, map, kept);
        at += kept->bytes;
    }
    code_map_leave(&oracle.modules.maps, group);
    return fclose(out) != 0;
}
