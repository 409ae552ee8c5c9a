/*
 * reader.h - the service's side of a feed. Everything that comes out of here is checked and copied.
 *
 * Ownership  The reader owns its mapping. What its calls give out is copied into the caller's
 * memory, or (samples) into a buffer that lives until the next call on the reader. Threads    One
 * thread at a time, the collector; feed_reader_control from any thread. Errors feed_reader_open: 0,
 * -ISOSCOPE_BAD_FEED, -ISOSCOPE_SYSTEM, -ISOSCOPE_NO_MEMORY. Later scribbling by a crashing program
 * is no error: it is skipped and counted (feed_reader_corrupt).
 */
#ifndef ISOSCOPE_READER_H
#define ISOSCOPE_READER_H

#include "layout.h"

#include <stdbool.h>
#include <stddef.h>

struct feed_reader;

/* What the service wants of a program. */
struct feed_settings {
    bool enabled;
    uint32_t period_us;
    uint32_t depth_max;
    enum feed_mode mode;
    char wall_threads[FEED_WALL_THREADS_BYTES]; /* names and tids that wall mode samples; "": all */
};

struct feed_thread_view {
    enum feed_thread_state state;
    uint32_t generation; /* another generation in the same slot is another thread */
    int32_t tid;
    char name[16];
    int64_t start_us;
};

struct feed_sample_view {
    int64_t timestamp_us;
    uint64_t cpu_ns;
    uint32_t depth;
    enum feed_end end;
    uint8_t state;
    uint32_t tag; /* for feed_reader_name; 0: none */
    /* So many samples more of the same stack, in these states. */
    uint8_t more_running, more_runnable;
    /* Of slot 0 only: whose it is; or that these sleep on where their last sample says, and then
     * there is neither stack nor slot. */
    uint16_t slot, generation;
    uint32_t sleeper_count;
    const uint32_t *sleepers; /* FEED_SLEEPER */
    const uint64_t
        *frames; /* leaf first; FEED_FRAME_MODULE and FEED_FRAME_OFFSET take them apart */
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
    int32_t sampler_tid;
    uint32_t threads_used, modules_used, modules_live;
    uint64_t ticks, delivered;
    uint64_t lost[FEED_LOSS_COUNT];
    uint64_t ends[FEED_END_COUNT];
    uint64_t table_bytes, sampler_cpu_ns;
    uint64_t cpu_ns, sampled_ns; /* of the process, sampler_cpu_ns included; and of it in samples */
    uint64_t names_full;         /* times that a tag's or a function's name found no room */
};

/* CPU time that no sample stands for: of threads that end between two ticks, that block the ticks'
 * signals, or whose samples were lost. */
static inline uint64_t feed_not_sampled_ns(const struct feed_status_view *status)
{
    uint64_t told_ns = status->sampled_ns + status->sampler_cpu_ns;

    return status->cpu_ns > told_ns ? status->cpu_ns - told_ns : 0;
}

/* Takes over memfd, also when it fails. The memfd must be sealed against shrinking. */
int feed_reader_open(struct feed_reader **out, int memfd);
void feed_reader_free(struct feed_reader *reader); /* NULL is fine */

int32_t feed_reader_pid(const struct feed_reader *reader); /* as the program sees it */
int64_t feed_reader_start_us(const struct feed_reader *reader);

/* Tells the program; returns at once. */
void feed_reader_control(struct feed_reader *reader, const struct feed_settings *settings);
/* Tells the program that a debugger is attached, or no more. */
void feed_reader_traced(struct feed_reader *reader, bool traced);
/* The program has closed its clock and wants no copy of it kept. */
bool feed_reader_gave_clock_up(const struct feed_reader *reader);
/* Tells the program that somebody still reads. */
void feed_reader_alive(struct feed_reader *reader, int64_t now_us);

void feed_reader_status(const struct feed_reader *reader, struct feed_status_view *out);

/* Slots to look at: [0, count). */
uint32_t feed_reader_slots(const struct feed_reader *reader);
/* False when the slot holds no thread (free, being filled in, or nonsense). */
bool feed_reader_thread(struct feed_reader *reader, uint32_t slot, struct feed_thread_view *out);
/* The slot's oldest unread sample, unless it was taken after until_us: then it stays unread. Slot 0
 * holds what the sampler's thread saw of sleeping threads. False when there is none. out->frames
 * lives until the next call. */
bool feed_reader_next(struct feed_reader *reader, uint32_t slot, int64_t until_us,
                      struct feed_sample_view *out);
/* Gives an ENDED and drained slot back to the program. */
void feed_reader_recycle(struct feed_reader *reader, uint32_t slot);

/* Numbers that may be asked for: [1, count). */
uint32_t feed_reader_modules(const struct feed_reader *reader);
/* number: from a frame. False when the program has not filled it in, or filled in nonsense. */
bool feed_reader_module(struct feed_reader *reader, uint32_t number, struct feed_module_view *out);
/* The program knows where the module's unwind table lies. */
bool feed_reader_has_table(const struct feed_reader *reader, uint32_t number);
/* Tells the program where a module's unwind table lies in the tables' file; at: FEED_TABLE_NONE
 * when it has none. feed_reader_wake follows, once for all that are told. */
void feed_reader_table(struct feed_reader *reader, uint32_t number, uint64_t at, uint32_t bytes);
void feed_reader_wake(struct feed_reader *reader);

/* Copies a name: one of a sample's tag or of a FEED_FRAME_NAMED. False when there is none. */
bool feed_reader_name(struct feed_reader *reader, uint32_t place, char name[FEED_NAME_MAX + 1]);

/* Records and words that could not be true, since it was opened. */
uint64_t feed_reader_corrupt(const struct feed_reader *reader);

#endif
