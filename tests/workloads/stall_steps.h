/*
 * stall_steps.h - what a dispatch of stall_loop does: parts such as "render:120", each in a function of its name
 * and with its own times.
 *
 * Units      *_ns: CLOCK_MONOTONIC nanoseconds. A part's number is milliseconds where nothing else is said.
 * Threads    Any; each has a struct step of its own.
 */
#ifndef ISOSCOPE_TESTS_STALL_STEPS_H
#define ISOSCOPE_TESTS_STALL_STEPS_H

#include <stdint.h>
#include <time.h>

enum { STEP_PARTS_MAX = 16, STEP_TEXT_MAX = 512 };

struct step_part {
    char name[16];
    int64_t begin_ns, end_ns;
};

struct step {
    char text[STEP_TEXT_MAX]; /* "decode:10,render:120" */
    int64_t asked_ns, begin_ns, end_ns, left_ns;
    uint32_t part_count;
    struct step_part parts[STEP_PARTS_MAX];
};

static inline int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

void steps_start(void); /* once, before any thread */
/* Does step->text, part by part. An unknown part ends the program with status 2, and what cannot be had on this
 * machine with 77. */
void step_run(struct step *step);
/* One line of JSON: {"KIND": TEXT, "tid": ..., "asked": ..., ..., "parts": [[NAME, BEGIN, END], ...]}. */
void step_tell(const struct step *step, const char *kind, int loop);

#endif
