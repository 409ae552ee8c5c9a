/*
 * feed_reader.h - the service's side of a feed. Everything that comes out of here is checked and
 * copied.
 *
 * Ownership  The reader owns its mapping. What its calls give out is copied into the caller's
 *            memory, or (records) into a buffer that lives until the next call on the reader.
 * Threads    One thread at a time, the collector; feed_reader_control from any thread.
 * Errors     feed_reader_open: 0, -ISOSCOPE_BAD_FEED, -ISOSCOPE_SYSTEM, -ISOSCOPE_NO_MEMORY. Later
 *            scribbling by a crashing program is no error: it is skipped and counted
 *            (feed_reader_corrupt).
 */
#ifndef ISOSCOPE_FEED_READER_H
#define ISOSCOPE_FEED_READER_H

#include "record.h"

#include <stdbool.h>
#include <stddef.h>

struct feed_reader;
struct feed_writer;

/* What the service wants of a program. */
struct feed_settings {
    bool enabled;
    uint32_t period_us;
    uint32_t depth_max;
    enum feed_mode mode;
    char wall_threads[FEED_WALL_THREADS_BYTES]; /* names and tids that wall mode samples; "": all */
    uint32_t wants;                             /* FEED_WANT_* */
    uint32_t allocation_bytes; /* one of so many is sampled, on average; 0: none is */
    uint32_t lock_us;          /* the same of time waited for locks and for other threads */
    uint32_t faults;           /* and of page faults */
};

struct feed_thread_view {
    enum feed_thread_state state;
    uint32_t generation; /* another generation in the same slot is another thread */
    int32_t tid;
    char name[16];
    bool named; /* by itself: the kernel does not know that name */
    int64_t start_us;
};

struct feed_module_view {
    uint64_t bias, start, end;
    uint8_t build_id[FEED_BUILD_ID_MAX];
    uint32_t build_id_bytes;
    const char *path; /* into memory of the reader, never changing; printable is not promised */
};

/* The status words, read one by one. */
struct feed_status_view {
    enum feed_timer timer;
    uint32_t true_period_us;
    enum feed_timer_reason timer_reason;
    uint32_t threads_used, modules_used, modules_live;
    uint32_t unloads;      /* +1 before and after each dlclose */
    uint32_t module_looks; /* +1 each time that the program has looked at what is mapped */
    uint64_t ticks, delivered;
    uint64_t lost[FEED_LOSS_COUNT];
    uint64_t ends[FEED_END_COUNT];
    uint64_t table_bytes;
    uint64_t upkeep_ns;            /* CPU time that ticks spent on other things than their sample */
    uint64_t cpu_ns, sampled_ns;   /* of the process; and of it in samples */
    uint64_t names_full;           /* times that a name found no room */
    uint64_t codes_full;           /* times that a runtime's function found none */
    uint64_t loops_lost;           /* loops that found no entry */
    uint64_t names_cut, texts_cut; /* of events: they were too long */
    uint64_t events_lost[FEED_EVENT_LOSS_COUNT];
    enum feed_allocations_seen allocations_seen;
    uint64_t allocations, allocations_lost,
        allocations_loose; /* sampled; in no ring; not followed */
    bool locks_seen;       /* it was started with libisoscope_lock.so */
    uint64_t lock_waits, lock_ns, waits_sampled, waits_lost; /* layout.h */
    enum feed_faults_seen faults_seen;
    uint32_t faults_period; /* of page faults one in so many traps */
    uint64_t faults_sampled, faults_lost;
};

/* CPU time that no sample stands for: of threads that end between two ticks, that block the ticks'
 * signals, or whose samples were lost. */
static inline uint64_t feed_not_sampled_ns(const struct feed_status_view *status)
{
    return status->cpu_ns > status->sampled_ns ? status->cpu_ns - status->sampled_ns : 0;
}

/* Takes over memfd, also when it fails. The memfd must be sealed against shrinking. */
int feed_reader_open(struct feed_reader **out, int memfd);
void feed_reader_free(struct feed_reader *reader); /* NULL is fine */

int32_t feed_reader_pid(const struct feed_reader *reader); /* as the program sees it */
int64_t feed_reader_start_us(const struct feed_reader *reader);

/* What a program says of its user clock. */
struct feed_clock_view {
    enum feed_timer_reason reason; /* why it wants none; NONE: it does */
    uint32_t period_us;            /* of the one that it came with */
    uint32_t before;               /* slots below it: their threads do not have it, but for tid */
    int32_t tid;
    uint32_t live;        /* threads that it knows of now */
    uint32_t short_ended; /* +1 for each thread that lived for less than a period */
    uint32_t suspects;    /* +1 each time that a debugger may have come */
    bool stopped;         /* nothing more comes from it */
};
/* The feed as its writers see it, for samples that the service takes itself (ring 0). Lives as long
 * as the reader. False: the program has laid it out in another way. */
bool feed_reader_writer(struct feed_reader *reader, struct feed_writer *out);

/* Tells the program; returns at once. */
void feed_reader_control(struct feed_reader *reader, const struct feed_settings *settings);
/* Tells the program whether its user clocks tick. */
void feed_reader_clock_runs(struct feed_reader *reader, bool runs);
bool feed_reader_clock_is_on(const struct feed_reader *reader);
void feed_reader_clock(const struct feed_reader *reader, struct feed_clock_view *out);
/* Whose feed it is, as it was when it was opened. */
void feed_reader_head(const struct feed_reader *reader, struct feed_head *out);
/* Tells the program that somebody still reads. */
void feed_reader_alive(struct feed_reader *reader, int64_t now_us);

void feed_reader_status(const struct feed_reader *reader, struct feed_status_view *out);

/* Slots to look at: [0, count). */
uint32_t feed_reader_slots(const struct feed_reader *reader);
/* False when the slot holds no thread (free, being filled in, or nonsense). */
bool feed_reader_thread(struct feed_reader *reader, uint32_t slot, struct feed_thread_view *out);
/* Writes the thread's name where the program writes it, too. name: 0-terminated. */
void feed_reader_name_thread(struct feed_reader *reader, uint32_t slot, const char name[16]);
/* The slot's oldest unread record, unless it is of a time after until_us: then it stays unread. Slot
 * 0 holds what the rounds of wall mode saw of sleeping threads. NULL when there is none. It is a
 * copy, checked, that lives until the next call. */
const union feed_any *feed_reader_next(struct feed_reader *reader, uint32_t slot, int64_t until_us);
/* The oldest unread event of the slot's thread, checked, in parts; what they point to lives until
 * the next call. False when there is none. */
bool feed_reader_next_event(struct feed_reader *reader, uint32_t slot,
                            struct feed_event_parts *out);
/* Places of streams that may be asked for: [0, count). */
uint32_t feed_reader_streams(const struct feed_reader *reader);
/* The name of a stream; false when there is none, yet. */
bool feed_reader_stream(struct feed_reader *reader, uint32_t place, char name[FEED_NAME_MAX + 1]);
/* Which streams' events are wanted: 1 << place. */
void feed_reader_want_streams(struct feed_reader *reader, uint64_t places);
/* Changes when a sampled allocation has been freed. */
uint32_t feed_reader_allocations_freed(const struct feed_reader *reader);
/* mark: of an allocation's sample. */
bool feed_reader_allocation_lives(const struct feed_reader *reader, uint64_t mark);
/* Marks of a lower level do not live: they are taken out to have fewer. Those that were seen to be gone
 * before are gone by it. */
uint32_t feed_reader_allocations_level(const struct feed_reader *reader);
/* It is to be so, at least. */
void feed_reader_raise_level(struct feed_reader *reader, uint32_t level);
/* What the table takes in memory. */
size_t feed_reader_allocations_bytes(const struct feed_reader *reader);
/* Gives an ENDED and drained slot back to the program. */
void feed_reader_recycle(struct feed_reader *reader, uint32_t slot);

/* Numbers that may be asked for: [1, count). */
uint32_t feed_reader_modules(const struct feed_reader *reader);
/* number: from a frame. False when the program has not filled it in, or filled in nonsense. */
bool feed_reader_module(struct feed_reader *reader, uint32_t number, struct feed_module_view *out);
/* The program knows where the module's unwind table lies. */
bool feed_reader_has_table(const struct feed_reader *reader, uint32_t number);
/* Tells the program where a module's unwind table lies in the tables' file; at: FEED_TABLE_NONE
 * when it has none. feed_reader_told follows, once for all that are told. */
void feed_reader_table(struct feed_reader *reader, uint32_t number, uint64_t at, uint32_t bytes);
void feed_reader_told(struct feed_reader *reader);

/* Copies a name: one of a sample's tag or of a FEED_FRAME_NAMED. False when there is none. */
bool feed_reader_name(struct feed_reader *reader, uint32_t place, char name[FEED_NAME_MAX + 1]);

/* Records and words that could not be true, since it was opened. */
uint64_t feed_reader_corrupt(const struct feed_reader *reader);
/* Records of types that are not known here, left out. */
uint64_t feed_reader_unknown(const struct feed_reader *reader);

#endif
