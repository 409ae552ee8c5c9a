/*
 * stall_log.h - the stalls of a profile: those that go on, as the watcher reports them, and those that have
 * been, with their text.
 *
 *   loops/ (loop_reports) -> stall_log -> teller (what is due) -> stall_log (published) -> stalls_take
 *
 * A stall is a candidate from armed on, and one from its limit on. Readers see it when the teller has
 * published it, with a number; with each publication it gets the next change number, and moves to the end
 * of the list. A candidate that is dismissed leaves no trace; a stall that was published ends.
 *
 * Units      *_ns: CLOCK_MONOTONIC nanoseconds.
 * Ownership  A task is a copy; its texts live in it: do not move it. What stall_log_take gives is held.
 * Threads    Any; one lock, which nobody holds for long.
 * Errors     0 or -ISOSCOPE_NO_MEMORY. A stall that finds no memory is counted as lost.
 * Bounds     Of ended ones, by number and bytes: the ones that changed longest ago go, and are counted.
 */
#ifndef ISOSCOPE_STALL_LOG_H
#define ISOSCOPE_STALL_LOG_H

#include "../loops/loop_reports.h"
#include "annealing.h"
#include "kept_stall.h"
#include "limits.h"

struct stall_log;

enum {
    STALL_LOG_COUNT_MAX = 10000,
    STALL_LOG_BYTES_MAX = 16 * 1024 * 1024,
    STALL_LOG_OPEN_MAX = 4096, /* candidates, too */
};

struct stall_log_options {
    uint32_t count_max; /* 0: STALL_LOG_COUNT_MAX */
    size_t bytes_max;   /* 0: STALL_LOG_BYTES_MAX */
};

int stall_log_new(struct stall_log **out, const struct stall_log_options *options);
void stall_log_free(struct stall_log *log); /* NULL is fine */
/* For the watcher. */
struct loop_reports stall_log_reports(struct stall_log *log);

/* What is to be done for a stall. */
enum stall_step {
    STALL_STEP_WARM,  /* it may become one: names may be read already */
    STALL_STEP_BEGIN, /* it is one, and was never published */
    STALL_STEP_CHECK, /* it goes on */
    STALL_STEP_END,   /* it has ended */
    STALL_STEP_NAMES, /* its end was published, with names that were not complete */
};

/* What the teller keeps with an open stall. All zeros: nothing yet. */
struct stall_notes {
    bool warmed;
    bool end_told;
    bool names_due; /* names were not complete */
    bool judged;
    uint64_t key; /* then */
    enum limits_verdict verdict;
    uint32_t equals, updates;
    enum stall_level level_told;
    uint64_t stack_told; /* the newest whole stack, when it was last told */
    bool trying;         /* a step: it waits for names */
    enum stall_step tried;
    int64_t tried_ns; /* when it was first tried */
    struct annealing annealing;
};

struct stall_task {
    uint64_t id;
    enum stall_step step;
    struct stall_notes notes;
    struct stall stall; /* what the reports say; number 0: never published */
    char name[256], thread_name[64];
};

/* What is due: true, or false, and when the next is (INT64_MAX: when there is news). */
bool stall_log_task(struct stall_log *log, int64_t now_ns, struct stall_task *out,
                    int64_t *next_ns);
/* What becomes of a task: when it is due next (INT64_MAX: with the next report; of one whose end is told:
 * it is done). */
void stall_log_put_off(struct stall_log *log, uint64_t id, const struct stall_notes *notes,
                       int64_t due_ns);
/* The same, and stall is what readers see from now on. Its number and change are set here; told, equals and
 * updates come from the notes. Without memory all is as it was. */
int stall_log_publish(struct stall_log *log, uint64_t id, const struct stall *stall,
                      const struct stall_notes *notes, int64_t due_ns);
/* Whether a task's stall is told, by the stack's key: foreseen while it goes on, counted when it has
 * ended. Sets it in the notes. */
void stall_log_judge(struct stall_log *log, const struct stall_task *task, uint64_t key,
                     int64_t now_ns, struct stall_notes *notes);

/* Waits for news, until a moment of CLOCK_MONOTONIC, or stall_log_wake: true. */
bool stall_log_wait(struct stall_log *log, int64_t until_ns);
void stall_log_wake(struct stall_log *log);

/* The largest number so far. */
uint64_t stall_log_last(struct stall_log *log);
/* One that is told by somebody else, as a session: with its number, and in place of an earlier one that has
 * it. Takes the reference over, also on failure. */
int stall_log_restore(struct stall_log *log, struct kept_stall *kept);

struct stall_log_taken {
    struct kept_stall *kept; /* held */
    struct stall
        *newer; /* of one that goes on, with what the last report says; NULL: it is kept's */
};

struct stall_log_window {
    struct stall_log_taken *taken; /* by change */
    size_t count;
    uint64_t change; /* for a next window's since */
};

int stall_log_take(struct stall_log *log, const struct stalls_window *window,
                   struct stall_log_window *out);
void stall_log_window_free(struct stall_log_window *window);
uint64_t stall_log_change(struct stall_log *log);
void stall_log_clear(struct stall_log *log, uint64_t process_id);
struct stall_counts stall_log_counts(struct stall_log *log);
/* Those over their limit whose end is not published yet. */
size_t stall_log_unended(struct stall_log *log);

#endif
