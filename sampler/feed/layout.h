/*
 * layout.h - the feed: the memory that the program and the service share.
 *
 *   capture (writes samples) -> feed -> profile/intake/collector (reads them)
 *   service (writes control)  -> feed -> capture (obeys)
 *
 * One feed per process, a sealed memfd made by the program (feed_writer.h):
 *
 *     header | thread table | loop table | runtime table | module table | index of names | names |
 *     rings of samples | allocations that live | rings of events | index of codes | codes
 *
 * What stands in rings: record.h
 *
 * Units      *_us: CLOCK_MONOTONIC microseconds. *_offset: bytes from the feed's start.
 * Ownership  Every field says who stores it: P the program, S the service.
 * Threads    Fields both sides touch while running are _Atomic; the rest is written
 *            before the hello is sent and never again.
 * Errors     The service trusts nothing here: it copies, then checks (feed_reader.h).
 *
 * Pages nobody touched cost nothing, so the capacities are generous. The program maps of it what it
 * uses (feed_writer.h), the service all.
 */
#ifndef ISOSCOPE_LAYOUT_H
#define ISOSCOPE_LAYOUT_H

#include <assert.h>
#include <stdint.h>

#define FEED_MAGIC UINT64_C(0x31646565466f7349) /* "IsoFeed1" */

enum {
    FEED_VERSION = 15,
    FEED_RING_BYTES = 256 * 1024, /* per thread; a power of two */
    /* Per thread that writes events; a power of two. A quarter of a million slices a second, read
     * ten times in it, need half of it. */
    FEED_EVENT_RING_BYTES = 1024 * 1024,
    /* The first of them is no ring, but the table of allocations that live. Threads beyond the rest
     * lose their events, which is counted. */
    FEED_EVENT_RINGS_MAX = 1024,
    /* Places for sampled ones, of which no more are used than are needed: the first so many, then
     * twice as many. Of each such step an address has a group of places. */
    FEED_ALLOCATIONS = FEED_EVENT_RING_BYTES / 16,
    FEED_ALLOCATIONS_FIRST = 4096,
    FEED_ALLOCATION_GROUP = 8,
    /* More than so many that live tell no more: their sum is right to 1 % by then. */
    FEED_FOLLOWED_MAX = 16384,
    FEED_ALLOCATION_BYTES_MIN = 1024, /* sampled once in so many on average, at least */
    FEED_ALLOCATION_BYTES_MAX = 1 << 30,
    FEED_ALLOCATION_BYTES_DEFAULT = 512 * 1024,
    FEED_LOCK_US_MIN = 1, /* of time waited */
    FEED_LOCK_US_MAX = 1000 * 1000,
    FEED_LOCK_US_DEFAULT = 100,
    FEED_FAULTS_MAX = 1000 * 1000, /* one page fault in so many is sampled, at most */
    FEED_FAULTS_DEFAULT = 100,
    FEED_THREADS_MAX = 4096, /* slot 0 is the service's own */
    FEED_THREADS_MIN = 16,
    FEED_LOOPS_MAX = 256,    /* loops that are watched; 0 is none */
    FEED_MODULES_MAX = 8192, /* module 0 is "no module": the frame is an absolute pc; numbers from
                                here on are the service's own, in samples of ring 0 */
    FEED_NAMES_BYTES = 1024 * 1024,
    FEED_NAME_MAX = 255, /* bytes of a tag or a function's name, without its end */
    FEED_NAME_INDEX_SLOTS =
        1 << 14, /* a power of two; more names than bytes are for are not kept */
    FEED_DEPTH_MIN = 2,
    FEED_DEPTH_MAX = 1024,
    FEED_DEPTH_DEFAULT = 512,
    FEED_BUILD_ID_MAX = 20,
    FEED_RUNTIMES_MAX = 8,        /* interpreters and JITs in one process */
    FEED_RUNTIME_RANGES_MAX = 16, /* pieces of code of each */
    FEED_RUNTIME_WORDS_MAX = 128, /* of what its walker must know */
    /* Names, files and line tables of the functions that runtimes run: feed_codes.h. None where
     * address space is limited: then such functions have no names, which is counted. */
    FEED_CODE_ALIGN = 16,            /* an id is a place in codes, in these */
    FEED_CODE_INDEX_SLOTS = 1 << 16, /* a power of two */
    FEED_CODE_INDEX_BYTES = FEED_CODE_INDEX_SLOTS * 4,
    FEED_CODES_BYTES = 32 * 1024 * 1024 - FEED_CODE_INDEX_BYTES,
    /* The program maps them with their index as they are used: this much at first, and then as much again
     * as it has. No code lies across. */
    FEED_CODES_FIRST_BYTES = 512 * 1024,
    FEED_CODE_NAME_MAX = 1023, /* bytes that are kept, of a function's full name */
    FEED_CODE_FILE_MAX = 4095,
    FEED_CODE_TABLE_MAX = 64 * 1024, /* a line table that is longer is left out */
    FEED_PERIOD_MIN_US = 50,
    FEED_PERIOD_MAX_US = 1000000,
    FEED_PERIOD_DEFAULT_US = 1000,
    FEED_WALL_PERIOD_MIN_US = 1000, /* a round looks at every thread */
    FEED_WALL_THREADS_BYTES = 128,  /* of the list of threads that wall mode samples */
};

/* Why there is no sample, or no other record. Counted by the program, per process. */
#define FEED_LOSSES(X)                                                                             \
    X(RING_FULL, "ring_full", "the thread's ring was full: the service reads too slowly")          \
    X(NO_SLOT, "no_slot", "no free slot or memory for another thread")                             \
    X(NO_TABLES, "no_tables", "the unwind tables were not built yet")                              \
    X(OVERRUN, "overrun",                                                                          \
      "a thread ran without being interrupted: it blocks signals, or is in the kernel")            \
    X(NO_TIMER, "no_timer",                                                                        \
      "the kernel refused a timer for a thread (ulimit -i is too low, or "                         \
      "seccomp forbids timer_create)")                                                             \
    X(MODULES_FULL, "modules_full", "no room for another library or its name")                     \
    X(AWAKE, "awake", "a sleeping thread woke up while its stack was read")                        \
    X(LATE, "late", "the service was too late for a round of wall mode")                           \
    X(SANDBOXED, "sandboxed", "the program sandboxed itself (seccomp), which ended sampling")      \
    X(THROTTLED, "throttled",                                                                      \
      "throttled: sampling took too much of a thread's time, so its period was made longer")       \
    X(NO_RIGHTS, "no_rights",                                                                      \
      "a thread slept, and the kernel does not let isoscope read its stack (rights, or a pid "     \
      "namespace)")                                                                                \
    X(NO_SIGNAL, "no_signal", "the program uses or ignores every signal that sampling could use")  \
    X(BUSY, "busy", "a thread was in the middle of writing something else into its ring")

/* Why there is no event. Counted by the program, per process. */
#define FEED_EVENT_LOSSES(X)                                                                       \
    X(RING_FULL, "ring_full",                                                                      \
      "the thread's ring of events was full: the service reads too slowly")                        \
    X(NO_RING, "no_ring", "no free slot or memory for another thread's events")                    \
    X(BUSY, "busy", "a signal handler came in the middle of another event of its thread")

/* Streams that every process has, in the places below; a program's own stand behind them. */
#define FEED_STREAMS(X)                                                                            \
    X(DART, "Dart")                                                                                \
    X(GC, "GC")                                                                                    \
    X(EMBEDDER, "Embedder")                                                                        \
    X(COMPILER, "Compiler")                                                                        \
    X(API, "API")                                                                                  \
    X(VM, "VM")

/* Why a stack ended where it did. ROOT is the only good one. */
#define FEED_ENDS(X)                                                                               \
    X(ROOT, "root", "complete: they reach the thread's start")                                     \
    X(DEPTH, "depth", "truncated: deeper than the limit (--depth)")                                \
    X(NO_MODULE, "no_module", "truncated: a pc lies in no known library")                          \
    X(NO_ROW, "no_row", "truncated: a pc has no unwind data")                                      \
    X(RULE, "rule",                                                                                \
      "truncated: the unwind rule cannot be followed, or needs a register that was not saved")     \
    X(STACK, "stack", "truncated: a word of the stack cannot be read")                             \
    X(LOOP, "loop", "truncated: the stack pointer did not grow")

#define FEED_TIMERS(X)                                                                             \
    X(NONE, "none")                                                                                \
    X(CPU_CLOCK, "cpu-timer") /* timer_create on the thread's CPU clock: the kernel's tick */      \
    X(PERF_TRAP, "sigtrap")   /* a perf task-clock event beside it, that traps in user mode */     \
    /* From outside (sampler/remote): */                                                           \
    X(PERF, "perf")       /* a perf task-clock event that copies registers and stack */            \
    X(SUSPEND, "suspend") /* threads that run are stopped by ptrace, one at a time */

/* Why CPU-time timers tick alone. */
#define FEED_TIMER_REASONS(X)                                                                      \
    X(NONE, "", "")                                                                                \
    X(ASKED, "asked", "--timer cpu")                                                               \
    X(REFUSED, "refused", "the kernel refused perf events (see kernel.perf_event_paranoid)")       \
    X(KERNEL, "kernel", "the kernel is older than 5.18")                                           \
    X(TRACED, "traced", "a debugger is attached")                                                  \
    X(SIGNAL, "signal", "the program ignores SIGTRAP, or sets signal handlers without libc")       \
    X(SWITCHES, "switches", "perf events would slow the program down: it switches very often")     \
    X(FILTERED, "filtered", "the kernel refused perf events (a seccomp filter forbids them)")      \
    X(ABSENT, "absent", "the kernel refused perf events (it has none that trap, or seccomp)")      \
    X(NO_ROOM, "no_room", "the kernel refused perf events (no descriptor or memory was free)")     \
    X(RIGHTS, "rights",                                                                            \
      "isoscope is not allowed to open perf events for it: it has other rights, or is not "        \
      "dumpable")

/* What a user may ask for (`--timer`). */
#define FEED_TIMER_WISHES(X)                                                                       \
    X(AUTO, "auto") /* both, where the kernel grants perf */                                       \
    X(CPU, "cpu")   /* CPU-time timers alone */

/* What is sampled: CPU mode samples threads that run, wall mode all of them. */
#define FEED_MODES(X)                                                                              \
    X(CPU, "cpu")                                                                                  \
    X(WALL, "wall")

/* Which loops a program marks (`--watch-loops`). */
#define FEED_WATCHES(X)                                                                            \
    X(AUTO,                                                                                        \
      "auto") /* those that it registers, and threads seen again and again in a loop's wait */     \
    X(NONE, "none")                                                                                \
    X(ALL, "all") /* each thread, from its first wait for descriptors on */

/* How the program's side knows a loop. */
#define FEED_LOOP_KINDS(X)                                                                         \
    X(REGISTERED, "registered") /* loop.h */                                                       \
    X(EPOLL, "epoll")                                                                              \
    X(POLL, "poll")                                                                                \
    X(SELECT, "select")                                                                            \
    X(URING, "io_uring")

/* What a thread was doing. The texts are what clients see. */
#define FEED_STATES(X)                                                                             \
    X(RUNNING, "Running")                                                                          \
    X(RUNNABLE, "Runnable") /* wants a processor, and has none */                                  \
    X(LOCK, "Lock")         /* waits for another thread */                                         \
    X(IO, "IO")             /* waits for a descriptor, a disk or a page */                         \
    X(SLEEP, "Sleep")       /* waits for time to pass, or for any of several things */             \
    /* Only where somebody asked (FEED_WANT_GIL): */                                               \
    X(GIL_HELD, "GilHeld") /* has the interpreter's lock, whatever it does with it */              \
    X(GIL_WAIT, "GilWait") /* LOCK, and that is the interpreter's */

/* Whose functions take the places of native frames. Words are for the wire. */
#define FEED_RUNTIMES(X)                                                                           \
    X(OTHER, "other") /* the program says what it runs: isoscope_code_provider_register */         \
    X(CPYTHON, "python")                                                                           \
    X(JVM, "java")                                                                                 \
    X(V8, "javascript")                                                                            \
    X(RUBY, "ruby")                                                                                \
    X(PHP, "php")                                                                                  \
    X(PERL, "perl")                                                                                \
    X(LUA, "lua")

/* What a code's line table is, and what the position in its frames counts. */
#define FEED_CODE_LINES(X)                                                                         \
    X(DIRECT)       /* no table: the position is the line; 0: not known */                         \
    X(PAIRS)        /* uint32_t pairs: position from which on, line; ascending */                  \
    X(CPYTHON_39)   /* co_lnotab; position: bytes of bytecode */                                   \
    X(CPYTHON_310)  /* co_linetable of 3.10; the same */                                           \
    X(CPYTHON_311)  /* co_linetable from 3.11 on; the same */                                      \
    X(JVM)          /* compressed LineNumberTable of a ConstMethod; position: bci */               \
    X(JVM_20)       /* the same, as JDK 20 and later pack it */                                    \
    X(V8)           /* source position table; gives places in the file, not lines */               \
    X(V8_CHARACTER) /* no table: the position is a place in the file */                            \
    X(V8_OPTIMIZED) /* v8_optimized.h: inlined functions too; position: bytes of machine code */   \
    X(INLINED)      /* code_inlines.h: what the service makes of it */

#define FEED_ENUM_MODE(name, ...)      FEED_MODE_##name,
#define FEED_ENUM_STATE(name, ...)     FEED_STATE_##name,
#define FEED_ENUM_LOSS(name, ...)      FEED_LOSS_##name,
#define FEED_ENUM_END(name, ...)       FEED_END_##name,
#define FEED_ENUM_TIMER(name, ...)     FEED_TIMER_##name,
#define FEED_ENUM_WATCH(name, ...)     FEED_WATCH_##name,
#define FEED_ENUM_LOOP_KIND(name, ...) FEED_LOOP_##name,
enum feed_watch { FEED_WATCHES(FEED_ENUM_WATCH) FEED_WATCH_COUNT };
enum feed_loop_kind { FEED_LOOP_KINDS(FEED_ENUM_LOOP_KIND) FEED_LOOP_KIND_COUNT };
enum feed_mode { FEED_MODES(FEED_ENUM_MODE) FEED_MODE_COUNT };
enum feed_state { FEED_STATES(FEED_ENUM_STATE) FEED_STATE_COUNT };
#define FEED_ENUM_RUNTIME(name, ...) FEED_RUNTIME_##name,
enum feed_runtime_kind { FEED_RUNTIMES(FEED_ENUM_RUNTIME) FEED_RUNTIME_KIND_COUNT };
#define FEED_ENUM_LINES(name) FEED_LINES_##name,
enum feed_code_lines { FEED_CODE_LINES(FEED_ENUM_LINES) FEED_LINES_COUNT };
enum feed_loss { FEED_LOSSES(FEED_ENUM_LOSS) FEED_LOSS_COUNT };
enum feed_end { FEED_ENDS(FEED_ENUM_END) FEED_END_COUNT };
enum feed_timer { FEED_TIMERS(FEED_ENUM_TIMER) FEED_TIMER_COUNT };
#define FEED_ENUM_REASON(name, ...) FEED_TIMER_REASON_##name,
enum feed_timer_reason { FEED_TIMER_REASONS(FEED_ENUM_REASON) FEED_TIMER_REASON_COUNT };
#define FEED_ENUM_WISH(name, ...) FEED_TIMER_WISH_##name,
enum feed_timer_wish { FEED_TIMER_WISHES(FEED_ENUM_WISH) FEED_TIMER_WISH_COUNT };
#define FEED_ENUM_EVENT_LOSS(name, ...) FEED_EVENT_LOSS_##name,
enum feed_event_loss { FEED_EVENT_LOSSES(FEED_ENUM_EVENT_LOSS) FEED_EVENT_LOSS_COUNT };
#define FEED_ENUM_STREAM(name, ...) FEED_STREAM_##name,
enum feed_stream { FEED_STREAMS(FEED_ENUM_STREAM) FEED_STREAM_COUNT };
/* The last place takes the events of all streams that came too late for one. */
enum { FEED_STREAMS_MAX = 64, FEED_STREAM_OTHERS = FEED_STREAMS_MAX - 1 };
#define FEED_STREAM_OTHERS_NAME "others"

/* Whether a program's allocations come by the sampler. */
enum feed_allocations_seen {
    FEED_ALLOCATIONS_UNSEEN, /* it was started without libisoscope_alloc.so */
    FEED_ALLOCATIONS_SEEN,
    FEED_ALLOCATIONS_SANITIZED, /* a sanitizer has them: they are left alone */
    FEED_ALLOCATIONS_OWN,       /* the program's malloc is its own: its mappings alone are seen */
};

/* Whether a program's page faults trap. */
enum feed_faults_seen {
    FEED_FAULTS_UNSEEN, /* nobody asked for it when it started */
    FEED_FAULTS_SEEN,
    FEED_FAULTS_REFUSED, /* the kernel lets it have no such event */
};

enum feed_thread_state {
    FEED_THREAD_FREE,    /* S stores it when an ended thread's ring is drained */
    FEED_THREAD_CLAIMED, /* P: being filled in; the reader skips it */
    FEED_THREAD_LIVE,    /* P */
    FEED_THREAD_ENDED,   /* P: nothing more will be written */
};

/* One thread. 128 bytes: two cache lines, the writer's and the reader's. */
struct feed_thread {
    _Atomic uint32_t state;      /* feed_thread_state */
    _Atomic uint32_t generation; /* P: +1 each time the slot is claimed */
    _Atomic int32_t tid;         /* P */
    _Atomic uint32_t name_seq;   /* both: odd while name is written */
    _Atomic uint64_t name[2];    /* both: the kernel's comm, 16 bytes, 0-terminated */
    int64_t start_us;            /* P, while CLAIMED */
    _Atomic uint64_t head;       /* P: bytes ever written to the ring */
    _Atomic uint32_t named;      /* P: 1: it gave itself the name, which is not the kernel's */
    _Atomic uint32_t event_ring; /* P: its number + 1; 0: none yet. The slot keeps it for good */
    _Atomic uint64_t event_head; /* P: bytes ever written to the ring of events */
    _Atomic uint64_t tail;       /* S: bytes ever read from the ring */
    /* For the rounds of wall mode. Addresses are the program's; 0: not known. */
    _Atomic uint64_t stack_low, stack_high, stack_root; /* P: as in unwind.h's stack_range */
    _Atomic uint64_t own;                               /* P: its struct thread_annotations */
    _Atomic uint32_t owed; /* S adds FEED_OWED_*, P takes all of it with its next sample */
    uint32_t reserved_reader;
    _Atomic uint64_t event_tail; /* S: bytes ever read from it */
    /* P, by the first tick that scans a runtime: where its thread-local memory is; 0: not known. */
    _Atomic uint64_t thread_pointer;
};

/* In owed: rounds that the thread's next sample stands for. */
enum {
    FEED_OWED_RUNNING = 1,
    FEED_OWED_RUNNABLE = 1 << 16,
    FEED_OWED_MAX = 4095, /* of both; a thread that blocks the ticks' signal never answers */
};

static_assert(sizeof(struct feed_thread) == 128, "layout");

/* A sampled allocation that lives: two words, so that its place in the table, and its number, tell
 * the service whether it still does. */
struct feed_allocation {
    _Atomic uint64_t address; /* P: 0: the place is free; FEED_ALLOCATION_TAKEN: being filled in */
    _Atomic uint64_t mark; /* P: FEED_ALLOCATION_MARK; 0 before it goes, and before it is there */
};
static_assert(sizeof(struct feed_allocation) * FEED_ALLOCATIONS == FEED_EVENT_RING_BYTES, "layout");
#define FEED_ALLOCATION_TAKEN     UINT64_C(1)
#define FEED_ALLOCATION_LEVEL_MAX 62
/* number: counts the process' sampled allocations, from 1 on; 42 bits of it. level: it is
 * one of those that would be sampled once in 2^level bytes, too. */
#define FEED_ALLOCATION_MARK(number, level, place)                                                 \
    ((uint64_t)(number) << 22 | (uint64_t)((level)&63) << 16 | (uint16_t)(place))
#define FEED_ALLOCATION_LEVEL(mark) ((uint32_t)((mark) >> 16) & 63)
#define FEED_ALLOCATION_PLACE(mark) ((uint32_t)(mark)&0xffff)
static_assert((int)FEED_ALLOCATIONS <= 1 << 16, "layout");

enum feed_loop_state {
    FEED_LOOP_FREE,    /* S stores it when it has seen that the loop has ended */
    FEED_LOOP_CLAIMED, /* P: being filled in */
    FEED_LOOP_LIVE,    /* P */
    FEED_LOOP_ENDED,   /* P */
};

/* One loop: two cache lines, of which the loop's thread writes the first at each dispatch. Times are the
 * service's, which looks; of what began between two looks the program notes a few. */
struct feed_loop {
    /* P: +1 when a dispatch begins, +1 when it ends: odd while the loop is busy. */
    _Atomic uint64_t mark;
    _Atomic uint32_t progress; /* P: +1 by isoscope_loop_progress */
    uint32_t reserved_own;
    /* S stores the mark of a dispatch that is late; P, at its end, stores when that was, before mark. */
    _Atomic uint64_t end_asked;
    _Atomic int64_t ended_ns;    /* P: CLOCK_MONOTONIC; 0: not yet */
    _Atomic uint32_t ping_asked; /* S: +1 */
    _Atomic uint32_t
        ping_posted;            /* P: what it was when its ping was handed to the program's post */
    _Atomic uint32_t ping_seen; /* P: what it was when the loop ran it */
    uint32_t reserved_hot;
    /* S, at a look: the mark there. P notes the begins that come first after it, then ever fewer. */
    _Atomic uint64_t note_base;
    _Atomic uint64_t note_from; /* S, then P: the mark before the next begin that is noted */

    _Atomic uint32_t state;      /* feed_loop_state */
    _Atomic uint32_t generation; /* P: +1 each time the entry is claimed */
    _Atomic uint32_t slot;       /* P: of its thread; 0: not known (yet) */
    _Atomic int32_t tid;         /* P */
    _Atomic uint32_t name;       /* P: in names; 0: it has none but its thread's */
    _Atomic uint32_t kind;       /* P: feed_loop_kind */
    _Atomic uint32_t has_ping;   /* P: 1: ping_asked is answered */
    /* P, ms; 0: the service's. By the loop's own options. */
    _Atomic uint32_t jank_ms, stall_ms, hang_ms, dead_ms;
    uint32_t reserved;
    /* P: the dispatch that was noted last, and when it began. The mark is 0 while the time changes. */
    _Atomic uint64_t noted_mark;
    _Atomic int64_t noted_ns;
};
static_assert(sizeof(struct feed_loop) == 128, "layout");

/* Code of a runtime: a native frame there stands for frames of the people's own. */
struct feed_runtime_range {
    uint64_t start, end; /* runtime addresses */
    uint32_t what;       /* the walker's own: cpython.h and its like say */
    uint32_t outside;    /* 1: of it only what is in no module: a JIT's code, wherever it lies */
};

/* What the service has found out of a runtime in this process, for the walkers of
 * capture/runtimes/. All of it is the service's (S); the program obeys, and reads by guard only. */
struct feed_runtime {
    _Atomic uint32_t ready; /* 1: the rest is filled in, and stays */
    uint32_t kind;          /* feed_runtime_kind */
    uint32_t version;       /* as the runtime's own headers have it: PY_VERSION_HEX; ... */
    uint32_t range_count;
    struct feed_runtime_range ranges[FEED_RUNTIME_RANGES_MAX];
    uint64_t words[FEED_RUNTIME_WORDS_MAX]; /* by the kind's own enum: addresses, offsets */
};
static_assert(sizeof(struct feed_runtime) == 1424, "layout");

/* A function that a runtime runs, as it was when it was first met. Never changes. */
struct feed_code {
    uint32_t size_bytes; /* with what follows; a multiple of FEED_CODE_ALIGN */
    uint32_t hash;       /* of all behind it */
    uint8_t runtime;     /* feed_runtime_kind */
    uint8_t lines;       /* feed_code_lines */
    uint16_t name_bytes;
    uint32_t first_line; /* of its definition; 0: not known */
    uint32_t file_bytes;
    uint32_t table_bytes;
    uint64_t reserved;
    char bytes[]; /* name, file, table; no ends */
};
static_assert(sizeof(struct feed_code) == 32, "layout");

/* One file mapped with code, whatever address it has. Append-only; the same file mapped
 * again keeps its number, so a frame (module, offset) stays true after a dlclose. */
struct feed_module {
    uint64_t bias;        /* P: runtime address - ELF vaddr, where it was first seen */
    uint64_t start, end;  /* P: the code's address range, where it was first seen */
    uint32_t path_offset; /* P: in names, 0-terminated */
    uint32_t build_id_bytes;
    uint8_t build_id[FEED_BUILD_ID_MAX]; /* zeros when the file has none */
    _Atomic uint32_t table_bytes;        /* S, before table_at */
    _Atomic uint64_t table_at; /* S: its unwind table in the tables' file; 0: not known yet */
};
/* The tables' file lies beside the feed's socket, is written by the service alone, and grows. */
#define FEED_TABLES_SUFFIX ".tables"
/* Of a service of many users each has a file of his own, in a folder of his own beside the socket:
 * PATH.UID/tables. */
#define FEED_USER_TABLES_NAME "/tables"
enum {
    /* In the tables' file: a random number, so that a service that only stood still is not taken for another
     * one. Nobody ever writes the word before it: outside/bell.h. */
    FEED_TABLES_MARK_AT = 8,
    FEED_TABLES_MARK_BYTES = 8,
    FEED_TABLE_NONE = 1,        /* in table_at: there is no unwind data */
    FEED_TABLE_ALIGN = 1 << 16, /* where tables begin: a multiple of every page size */
};
static_assert(sizeof(struct feed_module) == 64, "layout");

/* Whose feed it is. While the program runs, the same bytes stand at mapped_at in its memory. */
struct feed_head {
    uint64_t magic;
    uint32_t version;
    uint32_t machine; /* ELF e_machine */
    int32_t pid;
    uint32_t reserved;
    int64_t start_us; /* when the sampler came up in this process */
    uint64_t mapped_at;
};

struct feed_header {
    struct feed_head head;
    uint64_t feed_bytes;
    uint32_t thread_capacity;
    uint32_t module_capacity;
    uint32_t names_bytes;
    uint32_t ring_bytes;
    uint32_t event_ring_capacity; /* rings of events; 0: there was no room for them */
    uint32_t event_ring_bytes;
    uint32_t loop_capacity;
    uint32_t codes_bytes; /* 0: there was no room for them */
    uint64_t loops_offset;
    uint64_t threads_offset, modules_offset, names_offset, rings_offset, event_rings_offset;
    uint64_t runtimes_offset, code_index_offset, codes_offset;
    uint64_t named_code; /* P: address of its struct named_code; 0: there is none */

    /* Written by the service, and read at each tick by the program, which sleeps undisturbed. */
    struct feed_control {
        _Atomic uint32_t changes;     /* +1 at each change of what follows, or of the tables */
        _Atomic uint32_t enabled;     /* 0 or 1 */
        _Atomic uint32_t period_us;   /* asked */
        _Atomic uint32_t depth_max;   /* frames kept of a stack; the rest is left out */
        _Atomic uint32_t mode;        /* feed_mode */
        _Atomic uint32_t clock_runs;  /* 1: user clocks tick */
        _Atomic uint64_t streams;     /* 1 << place: its events are wanted; all are at first */
        _Atomic int64_t reader_us;    /* when it last looked; the program rests when nobody does */
        _Atomic uint32_t watch_loops; /* feed_watch */
        /* 1: the service has seen all loops idle, and sleeps: whoever begins a dispatch stores 0, then when
         * that was, and rings the bell (sampler_ask_service). It says 1 at most once a second. */
        _Atomic uint32_t loops_rest;
        _Atomic int64_t loops_woken_ns; /* P: CLOCK_MONOTONIC */
        _Atomic uint32_t
            pings; /* S: +1 with each ping_asked, and a FUTEX_WAKE: iso-ping sleeps here */
        _Atomic uint32_t runtimes_used;    /* entries of the runtime table to look at */
        _Atomic uint32_t wants;            /* FEED_WANT_* */
        _Atomic uint32_t allocation_bytes; /* sampled once in so many on average; 0: not */
        _Atomic uint32_t lock_us;          /* the same of time waited */
        _Atomic uint32_t live_level;       /* what allocations_level is to be, at least */
        _Atomic uint32_t wall_threads_seq; /* odd while the list is written */
        _Atomic char wall_threads[FEED_WALL_THREADS_BYTES]; /* "": all; thread_choice.h */
    } control;

    /* Written by the program, read by the service. */
    struct feed_status {
        _Atomic uint32_t threads_used; /* slots ever used: scan [0, threads_used) */
        _Atomic uint32_t modules_used; /* entries filled: valid numbers are [1, modules_used) */
        _Atomic uint32_t names_used;
        _Atomic uint32_t asks;            /* +1 when the service is to look at what follows now */
        _Atomic uint32_t clock_reason;    /* feed_timer_reason: why it wants no user clock */
        _Atomic uint32_t clock_period_us; /* of the user clock that it came with; 0: without */
        _Atomic uint32_t clock_before; /* slots below it were used before the clock: it does not */
        _Atomic int32_t clock_tid;     /* tick in their threads, but for this one */
        _Atomic uint32_t timer_period_us; /* of CPU-time timers */
        _Atomic uint32_t live;            /* threads that are known now */
        _Atomic uint32_t short_ended;     /* threads that lived for less than a period */
        _Atomic uint32_t suspects_tracer; /* +1: a thread was stopped at its tick, it seems */
        _Atomic uint32_t stopped;         /* 1: by isoscope_stop, or in a sandbox: no more comes */
        _Atomic uint32_t modules_live;    /* modules mapped now */
        _Atomic uint32_t unloads;         /* P: +1 before and after each dlclose */
        _Atomic uint32_t module_looks;    /* +1 each time that it has looked at what is mapped */
        _Atomic uint64_t ticks;           /* handler calls */
        _Atomic uint64_t delivered;       /* samples committed to a ring */
        _Atomic uint32_t codes_used;      /* bytes of codes that are taken */
        _Atomic uint32_t
            outside_timer; /* feed_timer of who writes it from outside; 0: the program does */
        _Atomic uint64_t codes_full; /* times that a function found no room in codes */
        _Atomic uint64_t names_full; /* tags and functions without room for their names */
        _Atomic uint64_t names_cut;  /* names of events that were longer than FEED_NAME_MAX */
        _Atomic uint64_t texts_cut;  /* texts that were longer than an event has room for */
        _Atomic uint32_t event_rings_used;
        _Atomic uint32_t loops_used;                /* entries ever used: scan [1, loops_used) */
        _Atomic uint64_t loops_lost;                /* loops that found no entry */
        _Atomic uint32_t streams_used;              /* places in streams that are filled in */
        _Atomic uint32_t streams[FEED_STREAMS_MAX]; /* in names, from FEED_STREAM_COUNT on */
        _Atomic uint64_t lost[16];                  /* by feed_loss */
        _Atomic uint64_t events_lost[4];            /* by feed_event_loss */
        _Atomic uint64_t ends[16];                  /* delivered samples by feed_end */
        _Atomic uint64_t table_bytes;               /* unwind tables held now */
        _Atomic uint64_t upkeep_ns;         /* what ticks spent on other things than their sample */
        _Atomic uint64_t cpu_ns;            /* CPU time of the process, when last looked at */
        _Atomic uint64_t sampled_ns;        /* that delivered samples stand for */
        _Atomic uint32_t allocations_seen;  /* feed_allocations_seen */
        _Atomic uint32_t allocations_freed; /* +1 for each that leaves the table */
        _Atomic uint64_t allocations;       /* sampled, and in a ring */
        _Atomic uint64_t allocations_lost;  /* sampled, and in none */
        _Atomic uint64_t allocations_loose; /* sampled, and not followed: no room for the table */
        _Atomic uint32_t allocations_followed; /* +1 for each that comes into the table */
        _Atomic uint32_t allocations_places;   /* in use; 0: FEED_ALLOCATIONS_FIRST */
        _Atomic uint32_t allocations_level;    /* those of a lower one are not followed; it grows */
        _Atomic uint32_t allocations_thinned;  /* 1: somebody takes those out just now */
        _Atomic uint64_t locks_seen;           /* 1: it was started with libisoscope_lock.so */
        _Atomic uint64_t lock_waits,
            lock_ns;                    /* for locks that others held; while they are sampled */
        _Atomic uint64_t waits_sampled; /* of these and all others, and in a ring */
        _Atomic uint64_t waits_lost;    /* sampled, and in none */
        _Atomic uint32_t faults_seen;   /* feed_faults_seen */
        _Atomic uint32_t faults_period; /* one page fault in so many is sampled */
        _Atomic uint64_t faults_sampled, faults_lost;
    } status;
};
static_assert((int)FEED_LOSS_COUNT <= 16 && (int)FEED_END_COUNT <= 16 &&
                  (int)FEED_EVENT_LOSS_COUNT <= 4,
              "layout");

/* In control.wants. */
enum {
    FEED_WANT_RUNTIMES = 1, /* frames of runtimes; else the interpreter's own stand */
    FEED_WANT_GIL = 2,      /* the states GIL_HELD and GIL_WAIT */
    FEED_WANT_TASKS = 4,    /* a running asyncio task's name as the tag of a sample that has none */
};

/* In place of a module's number. */
enum { FEED_MODULE_KERNEL = 0xfffd, FEED_MODULE_CODE = 0xfffe, FEED_MODULE_NAMED = 0xffff };
enum feed_name_kind { FEED_NAME_JIT, FEED_NAME_INTERPRETED, FEED_NAME_KIND_COUNT };
static_assert(2 * (int)FEED_MODULES_MAX <= (int)FEED_MODULE_KERNEL, "layout");

/* Frames other than the leaf (and the one a signal interrupted) hold the return address
 * minus one: that byte lies in the call, so in the calling function. */
#define FEED_FRAME(module, offset) ((uint64_t)(module) << 48 | ((offset)&FEED_OFFSET_MASK))
/* Stands where frames of a stack deeper than the limit were left out; its outer frames follow. */
#define FEED_FRAME_GAP FEED_FRAME(0, 1)
/* Code that has a name and no file: a JIT's, or a function that an interpreter runs. name: its
 * place in names; 0: there was no room for it. */
#define FEED_FRAME_NAMED(kind, name)                                                               \
    FEED_FRAME(FEED_MODULE_NAMED, (uint64_t)(kind) << 32 | (uint32_t)(name))
#define FEED_FRAME_NAME(frame)      ((uint32_t)(frame))
#define FEED_FRAME_NAME_KIND(frame) ((uint32_t)((frame) >> 32) & 0xffff)
/* A function that a runtime runs. code: its place in codes / FEED_CODE_ALIGN, 24 bits; 0: there was
 * no room for it. position: of the instruction that runs or calls, 24 bits (feed_code_lines says
 * what it counts); FEED_NO_POSITION: not known, or too large. */
enum { FEED_CODE_BITS = 24, FEED_NO_POSITION = 0xffffff };
#define FEED_FRAME_CODE(code, position)                                                            \
    FEED_FRAME(FEED_MODULE_CODE, (uint64_t)(code) << 24 | (uint32_t)(position))
#define FEED_FRAME_CODE_ID(frame)       ((uint32_t)((frame) >> 24) & 0xffffff)
#define FEED_FRAME_CODE_POSITION(frame) ((uint32_t)(frame)&0xffffff)
static_assert(FEED_CODES_BYTES / FEED_CODE_ALIGN <= 1 << FEED_CODE_BITS, "layout");
/* Code of the kernel's, by its address: of a program that is sampled from outside. */
#define FEED_FRAME_KERNEL(address)       FEED_FRAME(FEED_MODULE_KERNEL, address)
#define FEED_FRAME_KERNEL_ADDRESS(frame) (FEED_FRAME_OFFSET(frame) | ~FEED_OFFSET_MASK)
#define FEED_OFFSET_MASK                 ((UINT64_C(1) << 48) - 1)
#define FEED_FRAME_MODULE(frame)         ((uint32_t)((frame) >> 48))
#define FEED_FRAME_OFFSET(frame)         ((frame)&FEED_OFFSET_MASK)

#endif
