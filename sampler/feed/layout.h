/*
 * layout.h - the feed: the memory that the program and the service share.
 *
 *   capture (writes samples) -> segment -> profile/collector (reads them)
 *   service (writes control)  -> segment -> capture (obeys)
 *
 * One segment per process, a sealed memfd made by the program (segment.h):
 *
 *     header | index of names (P alone) | thread table | module table | names | rings, one per slot
 *
 * Units      *_us: CLOCK_MONOTONIC microseconds. *_offset: bytes from the segment's start.
 * Ownership  Every field says who stores it: P the program, S the service.
 * Threads    Fields both sides touch while running are _Atomic; the rest is written
 *            before the hello is sent and never again.
 * Errors     The service trusts nothing here: it copies, then checks (reader.h).
 *
 * Pages nobody touched cost nothing, so the capacities are generous. The program maps of it what it
 * uses (segment.h), the service all.
 */
#ifndef ISOSCOPE_LAYOUT_H
#define ISOSCOPE_LAYOUT_H

#include <assert.h>
#include <stdint.h>

#define FEED_MAGIC UINT64_C(0x31646565466f7349) /* "IsoFeed1" */

enum {
    FEED_VERSION = 5,
    FEED_RING_BYTES = 256 * 1024, /* per thread; a power of two */
    FEED_THREADS_MAX = 4096,      /* slot 0 is the sampler's own */
    FEED_THREADS_MIN = 16,
    FEED_MODULES_MAX = 8192, /* module 0 is "no module": the frame is an absolute pc */
    FEED_NAMES_BYTES = 1024 * 1024,
    FEED_NAME_MAX = 255, /* bytes of a tag or a function's name, without its end */
    FEED_NAME_INDEX_SLOTS =
        1 << 14, /* a power of two; more names than bytes are for are not kept */
    FEED_DEPTH_MIN = 2,
    FEED_DEPTH_MAX = 1024,
    FEED_DEPTH_DEFAULT = 128,
    FEED_BUILD_ID_MAX = 20,
    FEED_PERIOD_MIN_US = 50,
    FEED_PERIOD_MAX_US = 1000000,
    FEED_PERIOD_DEFAULT_US = 1000,
    FEED_WALL_PERIOD_MIN_US = 1000, /* a round looks at every thread */
    FEED_WALL_THREADS_BYTES = 128,  /* of the list of threads that wall mode samples */
};

/* Why a tick left no sample. Counted by the program, per process. */
#define FEED_LOSSES(X)                                                                             \
    X(RING_FULL, "ring_full", "the thread's ring was full: the service reads too slowly")          \
    X(NO_SLOT, "no_slot", "no thread slot was free, or no memory for one")                         \
    X(NO_TABLES, "no_tables", "the unwind tables were not built yet")                              \
    X(OVERRUN, "overrun", "the kernel merged ticks: the timer cannot keep the period")             \
    X(NO_TIMER, "no_timer", "the kernel refused a timer for a thread")                             \
    X(MODULES_FULL, "modules_full", "the module table was full")                                   \
    X(AWAKE, "awake", "a sleeping thread woke up while its stack was read")                        \
    X(LATE, "late", "the sampler's thread came too late for a round of wall mode")                 \
    X(SANDBOXED, "sandboxed", "the program locked itself in (seccomp): sampling of it ended")      \
    X(NO_THREAD, "no_thread", "after unshare or setns the kernel refused the sampler's thread")    \
    X(SLOWED, "slowed", "ticks cost a thread too much of its time: its period was made longer")

/* Why a stack ended where it did. ROOT is the only good one. */
#define FEED_ENDS(X)                                                                               \
    X(ROOT, "root", "the thread's first frame was reached")                                        \
    X(DEPTH, "depth", "the stack is deeper than the limit")                                        \
    X(NO_MODULE, "no_module", "a pc lies in no module known to the sampler")                       \
    X(NO_ROW, "no_row", "a pc has no unwind data")                                                 \
    X(RULE, "rule", "the unwind rule cannot be expressed in the table")                            \
    X(STACK, "stack", "the stack pointer left the thread's stack")                                 \
    X(LOOP, "loop", "the stack pointer did not grow")

#define FEED_TIMERS(X)                                                                             \
    X(NONE, "none")                                                                                \
    X(CPU_CLOCK, "cpu-timer") /* timer_create on the thread's CPU clock: the kernel's tick */      \
    X(PERF_TRAP, "sigtrap")   /* a perf task-clock event beside it, that traps in user mode */

/* Why CPU-time timers tick alone. */
#define FEED_TIMER_REASONS(X)                                                                      \
    X(NONE, "", "")                                                                                \
    X(ASKED, "asked", "as --timer cpu asks")                                                       \
    X(REFUSED, "refused", "the kernel refused perf events (see kernel.perf_event_paranoid)")       \
    X(KERNEL, "kernel", "the kernel is older than 5.18")                                           \
    X(TRACED, "traced", "a debugger is attached")                                                  \
    X(SIGNAL, "signal", "the program ignores SIGTRAP, or takes signals past libc")                 \
    X(SWITCHES, "switches", "perf events would slow it: it switches very often")

/* What a user may ask for (`--timer`). */
#define FEED_TIMER_WISHES(X)                                                                       \
    X(AUTO, "auto") /* both, where the kernel grants perf */                                       \
    X(CPU, "cpu")   /* CPU-time timers alone */

/* What is sampled: CPU mode samples threads that run, wall mode all of them. */
#define FEED_MODES(X)                                                                              \
    X(CPU, "cpu")                                                                                  \
    X(WALL, "wall")

/* What a thread was doing. The texts are what clients see. */
#define FEED_STATES(X)                                                                             \
    X(RUNNING, "Running")                                                                          \
    X(RUNNABLE, "Runnable") /* wants a processor, and has none */                                  \
    X(LOCK, "Lock")         /* waits for another thread */                                         \
    X(IO, "IO")             /* waits for a descriptor, a disk or a page */                         \
    X(SLEEP, "Sleep")       /* waits for time to pass, or for any of several things */

#define FEED_ENUM_MODE(name, ...)  FEED_MODE_##name,
#define FEED_ENUM_STATE(name, ...) FEED_STATE_##name,
#define FEED_ENUM_LOSS(name, ...)  FEED_LOSS_##name,
#define FEED_ENUM_END(name, ...)   FEED_END_##name,
#define FEED_ENUM_TIMER(name, ...) FEED_TIMER_##name,
enum feed_mode { FEED_MODES(FEED_ENUM_MODE) FEED_MODE_COUNT };
enum feed_state { FEED_STATES(FEED_ENUM_STATE) FEED_STATE_COUNT };
enum feed_loss { FEED_LOSSES(FEED_ENUM_LOSS) FEED_LOSS_COUNT };
enum feed_end { FEED_ENDS(FEED_ENUM_END) FEED_END_COUNT };
enum feed_timer { FEED_TIMERS(FEED_ENUM_TIMER) FEED_TIMER_COUNT };
#define FEED_ENUM_REASON(name, ...) FEED_TIMER_REASON_##name,
enum feed_timer_reason { FEED_TIMER_REASONS(FEED_ENUM_REASON) FEED_TIMER_REASON_COUNT };
#define FEED_ENUM_WISH(name, ...) FEED_TIMER_WISH_##name,
enum feed_timer_wish { FEED_TIMER_WISHES(FEED_ENUM_WISH) FEED_TIMER_WISH_COUNT };

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
    _Atomic uint32_t name_seq;   /* P: odd while name is written */
    _Atomic uint64_t name[2];    /* P: the kernel's comm, 16 bytes, 0-terminated */
    int64_t start_us;            /* P, while CLAIMED */
    _Atomic uint64_t head;       /* P: bytes ever written to the ring */
    uint32_t reserved[4];
    _Atomic uint64_t tail; /* S: bytes ever read from the ring */
    uint64_t reserved_reader[7];
};
static_assert(sizeof(struct feed_thread) == 128, "layout");

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
enum {
    FEED_TABLE_NONE = 1,        /* in table_at: there is no unwind data */
    FEED_TABLE_ALIGN = 1 << 16, /* where tables begin: a multiple of every page size */
};
static_assert(sizeof(struct feed_module) == 64, "layout");

struct feed_header {
    uint64_t magic;
    uint32_t version;
    uint32_t machine; /* ELF e_machine */
    uint64_t segment_bytes;
    int32_t pid;
    uint32_t thread_capacity;
    uint32_t module_capacity;
    uint32_t names_bytes;
    uint32_t ring_bytes;
    uint32_t reserved0;
    uint64_t threads_offset, modules_offset, names_offset, rings_offset;
    int64_t start_us; /* when the sampler came up in this process */

    /* Written by the service, obeyed by the program; then FUTEX_WAKE on wake. */
    struct feed_control {
        _Atomic uint32_t wake;      /* both: +1 at each change */
        _Atomic uint32_t enabled;   /* 0 or 1 */
        _Atomic uint32_t period_us; /* asked */
        _Atomic uint32_t depth_max; /* frames kept of a stack; the rest is left out */
        _Atomic uint32_t mode;      /* feed_mode */
        _Atomic uint32_t traced;    /* 1: a debugger is attached, which traps would stop */
        _Atomic int64_t reader_us;  /* S: when it last looked; the program rests when nobody does */
        _Atomic uint32_t wall_threads_seq;                  /* odd while the list is written */
        _Atomic char wall_threads[FEED_WALL_THREADS_BYTES]; /* "": all; thread_choice.h */
    } control;

    /* Written by the program, read by the service. */
    struct feed_status {
        _Atomic uint32_t threads_used; /* slots ever used: scan [0, threads_used) */
        _Atomic uint32_t modules_used; /* entries filled: valid numbers are [1, modules_used) */
        _Atomic uint32_t names_used;
        _Atomic uint32_t timer;          /* feed_timer most threads use */
        _Atomic uint32_t true_period_us; /* what that timer can do; = period_us when it keeps up */
        _Atomic uint32_t timer_reason;   /* feed_timer_reason */
        _Atomic uint32_t sampler_tid;    /* our own thread in the program */
        _Atomic uint32_t modules_live;   /* modules mapped now */
        _Atomic uint32_t clock_given_up; /* 1: the service gives its copy of the clock up, too */
        uint32_t reserved;
        _Atomic uint64_t ticks;          /* handler calls */
        _Atomic uint64_t delivered;      /* samples committed to a ring */
        _Atomic uint64_t names_full;     /* tags and functions whose name found no room */
        _Atomic uint64_t lost[16];       /* by feed_loss */
        _Atomic uint64_t ends[16];       /* delivered samples by feed_end */
        _Atomic uint64_t table_bytes;    /* unwind tables held now */
        _Atomic uint64_t sampler_cpu_ns; /* the sampler thread's own CPU time */
        _Atomic uint64_t cpu_ns;         /* the process's, that included, when last looked at */
        _Atomic uint64_t sampled_ns;     /* that delivered samples stand for */
    } status;
};
static_assert((int)FEED_LOSS_COUNT <= 16 && (int)FEED_END_COUNT <= 16, "layout");

/* Ring records. 8-byte aligned; size_bytes is a multiple of 8 and includes the head. */
enum feed_record_type {
    FEED_RECORD_PAD = 1, /* skip: the ring wraps, or starts over to keep its pages few */
    FEED_RECORD_SAMPLE = 2,
    /* In ring 0, which the sampler's thread writes: */
    FEED_RECORD_SAMPLE_OF = 3, /* a sample of a sleeping thread */
    FEED_RECORD_AGAIN = 4,     /* threads sleep on, where their last SAMPLE_OF says */
};

struct feed_record {
    uint32_t size_bytes;
    uint16_t type;
    uint16_t slot; /* SAMPLE_OF: the thread's; else 0 */
};

struct feed_sample {
    struct feed_record head;
    int64_t timestamp_us;
    uint64_t cpu_ns; /* CPU time that it stands for: capture/threads/account.h */
    uint16_t depth;
    uint8_t end;   /* feed_end */
    uint8_t state; /* feed_state */
    uint32_t tag;  /* in names: what isoscope_tag_push said; 0: nothing */
    /* Rounds of wall mode that this sample stands for too, in these states; in CPU mode: periods.
     */
    uint8_t more_running, more_runnable;
    uint16_t generation; /* SAMPLE_OF: low bits of the slot's, or it is another thread's by now */
    uint32_t reserved;
    uint64_t frames[]; /* leaf first: FEED_FRAME(module, ELF vaddr), FEED_FRAME(0, pc), or a name */
};
static_assert(sizeof(struct feed_sample) == 40, "layout");

/* All sleepers of a round, in few words: hundreds of threads may sleep, at 1 kHz. */
struct feed_again {
    struct feed_record head;
    int64_t timestamp_us;
    uint32_t count;
    uint32_t sleepers[]; /* FEED_SLEEPER */
};
enum { FEED_SLEEPERS_MAX = 1024 }; /* in one record */

/* generation: low bits of the slot's. */
#define FEED_SLEEPER(slot, generation, state)                                                      \
    ((uint32_t)(slot) << 20 | (uint32_t)(state) << 16 | (uint16_t)(generation))
#define FEED_SLEEPER_SLOT(sleeper)       ((sleeper) >> 20)
#define FEED_SLEEPER_STATE(sleeper)      ((sleeper) >> 16 & 15)
#define FEED_SLEEPER_GENERATION(sleeper) ((uint16_t)(sleeper))
static_assert((int)FEED_THREADS_MAX <= 1 << 12 && (int)FEED_STATE_COUNT <= 16, "layout");

enum { FEED_MODULE_NAMED = 0xffff }; /* in place of a module's number */
enum feed_name_kind { FEED_NAME_JIT, FEED_NAME_INTERPRETED, FEED_NAME_KIND_COUNT };
static_assert((int)FEED_MODULES_MAX <= (int)FEED_MODULE_NAMED, "layout");

/* Frames other than the leaf (and the one a signal interrupted) hold the return address
 * minus one: that byte lies in the call, so in the calling function. */
#define FEED_FRAME(module, offset) ((uint64_t)(module) << 48 | ((offset)&FEED_OFFSET_MASK))
/* Stands where frames of a stack deeper than the limit were left out; its root side follows. */
#define FEED_FRAME_GAP FEED_FRAME(0, 1)
/* Code that has a name and no file: a JIT's, or a function that an interpreter runs. name: its
 * place in names; 0: there was no room for it. */
#define FEED_FRAME_NAMED(kind, name)                                                               \
    FEED_FRAME(FEED_MODULE_NAMED, (uint64_t)(kind) << 32 | (uint32_t)(name))
#define FEED_FRAME_NAME(frame)      ((uint32_t)(frame))
#define FEED_FRAME_NAME_KIND(frame) ((uint32_t)((frame) >> 32) & 0xffff)
#define FEED_OFFSET_MASK            ((UINT64_C(1) << 48) - 1)
#define FEED_FRAME_MODULE(frame)    ((uint32_t)((frame) >> 48))
#define FEED_FRAME_OFFSET(frame)    ((frame)&FEED_OFFSET_MASK)

#endif
