/*
 * fake_profile.h - a scripted profile behind snapshot.h, timeline.h, stalls.h, facts.h, control.h, saved.h and recorder.h: what
 * protocol/ is tested over.
 *
 * Three processes: 100 "spin" lives, 101 "sh" has ended and left a sample, 102 "true" has ended and
 * left none. Of the first one's source the lines are known. Tests change the struct as they like,
 * between calls.
 */
#ifndef ISOSCOPE_FAKE_PROFILE_H
#define ISOSCOPE_FAKE_PROFILE_H

#include "sampler/profile/control.h"
#include "sampler/profile/facts.h"
#include "sampler/profile/timeline.h"

enum { FAKE_MAX = 16, FAKE_PROCESSES_MAX = 128, FAKE_DEPTH_MAX = 128 };

struct fake_sample {
    uint64_t process_id;
    int64_t timestamp_us;
    const char *thread_name;
    enum feed_end end;
    uint8_t state;
    uint32_t depth;
    struct snapshot_frame frames[FAKE_DEPTH_MAX];
};

struct profile {
    struct process_info processes[FAKE_PROCESSES_MAX];
    size_t process_count;
    struct profile_thread threads[2 * FAKE_MAX]; /* of the first process */
    size_t thread_count;
    struct snapshot_library libraries[FAKE_MAX];
    uint32_t library_count;
    struct snapshot_function functions[FAKE_MAX];
    uint32_t function_count;
    const struct fake_sample *samples; /* the script's own, or a test's */
    uint32_t sample_count;
    uint32_t repeat; /* the samples come so many times in a snapshot; 0: once */
    struct feed_settings settings;
    bool saved;   /* it is of session files: fake_saved.c */
    bool damaged; /* then: the second file, in its samples */
    bool pending; /* snapshot_take: names are being read */
    struct profile_symbols symbols;
    bool follows;
    uint32_t clears; /* calls of profile_clear */
    unsigned looks;  /* calls of profile_processes */
    unsigned synced; /* calls of profile_sync */
    int snapshots;   /* begun and not freed yet */
    int turns;       /* that snapshot_step still needs; all snapshots share them */
    const struct timeline_event *events; /* in the order of arrival; those that stand open last */
    uint32_t event_count;
    uint64_t events_evicted; /* of those, the first */
    uint32_t event_clears;
    uint32_t streams_off; /* by index in the names of fake_timeline.c */
    bool others_off;      /* streams that become known later */
    const struct loop_info *loops;
    uint32_t loop_count, unwatched_count;
    struct stall stalls[FAKE_MAX];
    uint32_t stall_count;
    uint64_t stall_change;
    uint64_t cpu_highs; /* so many were told */
    struct stall_settings stall_settings;
};

void fake_profile_init(struct profile *profile);
/* The first library is a file whose functions Python runs. */
void fake_script(struct profile *profile);
/* The script of fake_timeline.c. */
void fake_events(struct profile *profile);
/* The script of fake_stalls.c. */
void fake_loops(struct profile *profile);
void fake_stall_begins(struct profile *profile);
void fake_stall_goes_on(struct profile *profile);
void fake_stall_ends(struct profile *profile);
void fake_equal_stalls(struct profile *profile);
int32_t fake_tid(const struct profile *profile, const struct fake_sample *sample);
/* What options.epoch_ms and options.monotonic_us are given. */
int64_t fake_epoch_ms(void);
int64_t fake_monotonic_us(void);
/* Until the next fake_profile_init. */
void fake_monotonic_pass(int64_t us);

#endif
