/*
 * record.h - what stands in a feed's rings: records, each with a head that says what and how long.
 *
 *   capture, profile/wall -> ring.h -> feed_reader.h -> profile/intake/drain.c
 *
 * A new kind of record is a type, a struct that begins like feed_timed, a member of feed_any, and
 * its check in record.c. A service that does not know the type leaves the record out, by its size.
 *
 * Units      *_us: CLOCK_MONOTONIC microseconds.
 * Errors     The writer may be hostile. feed_record_check looks at a copy that the writer cannot
 *            reach, and what it lets pass is whole.
 */
#ifndef ISOSCOPE_RECORD_H
#define ISOSCOPE_RECORD_H

#include "layout.h"

#include <stdbool.h>

enum feed_record_type {
    FEED_RECORD_PAD = 1, /* skip: the ring wraps, or starts over to keep its pages few */
    FEED_RECORD_SAMPLE = 2,
    /* In ring 0, which the service writes itself: */
    FEED_RECORD_SAMPLE_OF = 3, /* a sample of a sleeping thread */
    FEED_RECORD_AGAIN = 4,     /* threads sleep on, where their last SAMPLE_OF says */
    /* In a thread's ring of events: */
    FEED_RECORD_EVENT = 5,
};

/* 8-byte aligned; size_bytes is a multiple of 8 and includes the head. */
struct feed_record {
    uint32_t size_bytes;
    uint16_t type;
    uint16_t slot; /* SAMPLE_OF: the thread's; EVENT: FEED_EVENT_HEAD; else 0 */
};

/* How each begins but a pad. */
struct feed_timed {
    struct feed_record head;
    int64_t timestamp_us;
};

/* Why a sample was taken. */
enum feed_kind {
    FEED_KIND_CPU,   /* its thread has used a period of CPU time */
    FEED_KIND_WALL,  /* a round of wall mode saw its thread */
    FEED_KIND_STALL, /* its loop was late, or it was looked at because of one: of ring 0 only */
    /* Its thread was in the middle of its own code. These stand for no CPU time: */
    FEED_KIND_ALLOCATION, /* it got memory */
    FEED_KIND_LOCK,       /* it has waited for a lock that another thread held */
    FEED_KIND_WAIT,       /* it has waited for what another thread was to do */
    FEED_KIND_FAULT,      /* it touched memory that had no page yet */
    FEED_KIND_COUNT,
};

struct feed_sample {
    struct feed_record head;
    int64_t timestamp_us;
    /* CPU time that it stands for, in nanoseconds: capture/threads/account.h. ALLOCATION: the bytes
     * that were asked for; LOCK, WAIT: nanoseconds waited; FAULT: page faults. */
    uint64_t cpu_ns;
    uint16_t depth;
    uint8_t end;   /* feed_end */
    uint8_t state; /* feed_state */
    uint32_t tag;  /* in names: what isoscope_tag_push said; 0: nothing */
    /* Rounds of wall mode that this sample stands for too, in these states; in CPU mode: periods.
     */
    uint16_t more_running, more_runnable;
    uint16_t generation; /* SAMPLE_OF: low bits of the slot's, or it is another thread's by now */
    uint16_t kind;       /* feed_kind */
    uint64_t frames[]; /* leaf first: FEED_FRAME(module, ELF vaddr), FEED_FRAME(0, pc), or a name */
};
static_assert(sizeof(struct feed_sample) == 40, "layout");

/* Behind the frames of a FEED_KIND_ALLOCATION. */
struct feed_allocation_words {
    uint64_t mean_bytes; /* its thread was sampled once in so many, on average */
    uint64_t mark;       /* FEED_ALLOCATION_MARK; 0: it is not followed */
};

/* What a thread can wait for. The words are for the wire. */
#define FEED_WAITS(X)                                                                              \
    X(MUTEX, "mutex")                                                                              \
    X(READ, "read")   /* a lock of readers and writers, to read */                                 \
    X(WRITE, "write") /* or to write */                                                            \
    X(CONDITION, "condition")                                                                      \
    X(SEMAPHORE, "semaphore")                                                                      \
    X(FUTEX, "futex") /* by the call itself: whatever the program makes of it */                   \
    /* Of a program that is sampled from outside, all of the time that it has no processor: */     \
    X(BLOCKED, "blocked") /* by what is not known */                                               \
    X(SLEEP, "sleep")     /* in a wait that a signal can end */                                    \
    X(DISK, "disk")       /* in one that none can */                                               \
    X(STOPPED, "stopped")                                                                          \
    X(PROCESSOR, "processor") /* it wants one, and has none */

#define FEED_ENUM_WAIT(name, word) FEED_WAIT_##name,
enum feed_wait { FEED_WAITS(FEED_ENUM_WAIT) FEED_WAIT_COUNT };

static inline bool feed_wait_is_off_cpu(uint32_t what)
{
    return what >= FEED_WAIT_BLOCKED;
}

/* Behind the frames of a FEED_KIND_LOCK or FEED_KIND_WAIT. Off the processor: mean_ns is how many waits it stands for, holder who
 * ended it, and there is no address. */
struct feed_wait_words {
    uint64_t mean_ns;    /* its thread was sampled once in so many, on average */
    uint64_t lock;       /* its address */
    uint64_t start, end; /* of the object that it is in, as it is mapped; equal: in none */
    int32_t holder;      /* tid of the thread that had it when the wait began; 0: not known */
    uint32_t what;       /* feed_wait */
};

union feed_words {
    struct feed_allocation_words allocation;
    struct feed_wait_words wait;
};

/* All sleepers of a round, in few words: hundreds of threads may sleep, at 1 kHz. */
struct feed_again {
    struct feed_record head;
    int64_t timestamp_us; /* of the first round */
    uint32_t period_us;   /* to the next one; each thread has its own place in it: FEED_SPREAD_US */
    uint16_t rounds;      /* that each of them stands for; more than one when a round came late */
    uint16_t count;
    uint32_t sleepers[]; /* FEED_SLEEPER */
};
/* Where in a period a thread's sample stands: threads of one round do not share a moment. */
#define FEED_SPREAD_US(slot, period_us)                                                            \
    ((int64_t)((uint64_t)((uint32_t)(slot)*UINT32_C(0x9e3779b9)) * (period_us) >> 32))
enum { FEED_SLEEPERS_MAX = 1024, FEED_ROUNDS_MAX = 1000 }; /* in one record */

/* generation: low bits of the slot's. */
#define FEED_SLEEPER(slot, generation, state)                                                      \
    ((uint32_t)(slot) << 20 | (uint32_t)(state) << 16 | (uint16_t)(generation))
#define FEED_SLEEPER_SLOT(sleeper)       ((sleeper) >> 20)
#define FEED_SLEEPER_STATE(sleeper)      ((sleeper) >> 16 & 15)
#define FEED_SLEEPER_GENERATION(sleeper) ((uint16_t)(sleeper))
static_assert((int)FEED_THREADS_MAX <= 1 << 12 && (int)FEED_STATE_COUNT <= 16, "layout");

/* What an event of the timeline says. Words in its record, in this order, where its phase has them:
 * name, id, duration; then the arguments. END is of the slice that this thread began last in that
 * stream: what stands open inside it was begun in a stream that has been switched off meanwhile.
 * COMPLETE is a slice at once, after its end; its time is its start. FLOW_* bind to the slice that
 * stands open. Each argument of COUNTER is a series. FRAME: id is its number, its time its start,
 * and its arguments, if any, "build", "raster" and "vsyncOverhead", in microseconds. LOST stands
 * where events were lost: id says how many, and duration is FEED_LOST_SLICES. */
#define FEED_EVENT_PHASES(X)                                                                       \
    X(BEGIN, NAME)                                                                                 \
    X(END, NOTHING)                                                                                \
    X(COMPLETE, NAME | DURATION)                                                                   \
    X(INSTANT, NAME)                                                                               \
    X(ASYNC_BEGIN, NAME | ID)                                                                      \
    X(ASYNC_INSTANT, NAME | ID)                                                                    \
    X(ASYNC_END, NAME | ID)                                                                        \
    X(FLOW_BEGIN, NAME | ID)                                                                       \
    X(FLOW_STEP, NAME | ID)                                                                        \
    X(FLOW_END, NAME | ID)                                                                         \
    X(COUNTER, NAME)                                                                               \
    X(FRAME, NAME | ID | DURATION)                                                                 \
    X(LOST, ID | DURATION)

enum {
    FEED_EVENT_HAS_NOTHING = 0,
    FEED_EVENT_HAS_NAME = 1,
    FEED_EVENT_HAS_ID = 2,
    FEED_EVENT_HAS_DURATION = 4,
};
enum {
    FEED_EVENT_ARGUMENTS_MAX = 4,
    FEED_EVENT_TEXT_MAX = 4096,
    FEED_EVENT_BYTES_MAX = 8192, /* texts that would make it larger are cut */
};

enum feed_argument_type {
    FEED_ARGUMENT_INT,
    FEED_ARGUMENT_UINT,
    FEED_ARGUMENT_DOUBLE,
    FEED_ARGUMENT_TEXT,
    FEED_ARGUMENT_TYPES,
};

/* Of the slices that stood open before the loss, so many (inner ones) have ended in it; and so many
 * have begun in it, unseen, that stand open now. */
#define FEED_LOST_SLICES(ended, begun) ((uint64_t)(begun) << 32 | (uint32_t)(ended))
#define FEED_LOST_ENDED(word)          ((uint32_t)(word))
#define FEED_LOST_BEGUN(word)          ((uint32_t)((word) >> 32))

struct feed_event {
    struct feed_record head; /* slot: phase, stream, number of arguments */
    int64_t timestamp_ns;    /* CLOCK_MONOTONIC */
    uint64_t words[];
};
#define FEED_EVENT_HEAD(phase, stream, arguments)                                                  \
    ((uint16_t)((phase) | (stream) << 4 | (arguments) << 10))
#define FEED_EVENT_PHASE(head)     ((head)&15)
#define FEED_EVENT_STREAM(head)    ((head) >> 4 & 63) /* a place in the header's streams */
#define FEED_EVENT_ARGUMENTS(head) ((head) >> 10 & 7)

/* An argument: one word of these, then its value; of a text its bytes, up to a multiple of 8. */
struct feed_argument {
    uint32_t name; /* in names */
    uint16_t text_bytes;
    uint16_t type; /* feed_argument_type */
};

/* An event as it is read. */
#define FEED_ENUM_PHASE(name, ...) FEED_EVENT_##name,
enum feed_event_phase { FEED_EVENT_PHASES(FEED_ENUM_PHASE) FEED_EVENT_PHASE_COUNT };

struct feed_event_argument {
    uint32_t name; /* in names */
    enum feed_argument_type type;
    uint64_t value;   /* of a text: its bytes */
    const char *text; /* in the record, not 0-terminated; else NULL */
};

struct feed_event_parts {
    enum feed_event_phase phase;
    uint32_t stream;
    int64_t timestamp_ns;
    uint32_t name; /* in names; 0: it has none, or there was no room for it */
    uint64_t id, duration_ns;
    uint32_t argument_count;
    struct feed_event_argument arguments[FEED_EVENT_ARGUMENTS_MAX];
};

/* A copy of any of them. head.type says which member is meant. */
union feed_any {
    struct feed_record head;
    struct feed_timed timed;
    struct feed_sample sample; /* SAMPLE, SAMPLE_OF */
    struct feed_again again;
    struct feed_event event;
    uint8_t bytes[sizeof(struct feed_sample) + FEED_DEPTH_MAX * sizeof(uint64_t) +
                  sizeof(union feed_words)];
};
static_assert((int)sizeof(union feed_any) >= (int)FEED_EVENT_BYTES_MAX, "an event is copied whole");

enum feed_record_is { FEED_RECORD_IS_GOOD, FEED_RECORD_IS_UNKNOWN, FEED_RECORD_IS_BAD };

/* ring: the slot in whose ring it stood. Of a copy whose head.size_bytes is larger than it, the
 * rest was cut off. */
enum feed_record_is feed_record_check(const union feed_any *record, uint32_t ring);
/* The same of what stood in a ring of events. Good: out has its parts. */
enum feed_record_is feed_event_check(const union feed_any *record, struct feed_event_parts *out);

/* False: a tick's, or a look's, that stands for CPU time. */
static inline bool feed_kind_is_own(uint32_t kind)
{
    return kind >= FEED_KIND_ALLOCATION;
}
/* Bytes behind the frames of a sample of the kind. */
static inline uint32_t feed_words_bytes(uint32_t kind)
{
    if (!feed_kind_is_own(kind) || kind == FEED_KIND_FAULT)
        return 0;
    return kind == FEED_KIND_ALLOCATION ? sizeof(struct feed_allocation_words)
                                        : sizeof(struct feed_wait_words);
}
/* What stands there, of a good one. */
struct feed_allocation_words feed_sample_allocation(const struct feed_sample *sample);
struct feed_wait_words feed_sample_wait(const struct feed_sample *sample);

#endif
