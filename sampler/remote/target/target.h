/*
 * target.h - one process that is sampled from outside, and the feed that is written for it.
 *
 *   perf/, suspend/ -> target_sample -> capture/unwind -> the feed's rings -> profile
 *   target_open -> *memfd -> profile_attach, as if the program had sent it
 *
 * The feed has what a program's has: threads in slots, modules with numbers, the service's wishes. So the profile tells it
 * where unwind tables lie, and reads its sleepers in wall mode, as ever.
 *
 * Units      *_ns: CLOCK_MONOTONIC nanoseconds, but for cpu_ns: CPU time.
 * Ownership  target_open makes all of it; target_close ends the feed and frees it. The memfd is the caller's.
 * Threads    One at a time.
 * Errors     target_open: false, with a refusal. What is lost later is counted in the feed.
 */
#ifndef ISOSCOPE_TARGET_H
#define ISOSCOPE_TARGET_H

#include "../../feed/layout.h"
#include "../refusal.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <ucontext.h>

struct target;

struct target_options {
    pid_t pid;
    const char *tables_path; /* the profile's file of unwind tables; NULL: none */
    enum feed_timer timer;   /* what the feed says of its clock */
};

bool target_open(struct target **out, const struct target_options *options, int *memfd,
                 struct refusal *why);
void target_close(struct target *target); /* NULL is fine */

pid_t target_pid(const struct target *target);
/* What the service wants of it now. */
struct target_wishes {
    bool enabled;
    uint32_t period_us;
    bool wall;    /* rounds of wall mode too: a sample answers for those that its thread owes */
    bool off_cpu; /* waits too: target_left, target_back */
};
struct target_wishes target_wishes(const struct target *target);

/* A thread has begun; 0: there is no room for it, which is counted. Else its slot. */
uint32_t target_thread(struct target *target, pid_t tid);
/* name: 16 bytes, as the kernel keeps it. */
void target_thread_name(struct target *target, pid_t tid, const char name[16]);
void target_thread_end(struct target *target, pid_t tid);
/* All threads that there are now (/proc/PID/task) are known, and those that went are ended. found: of each; NULL: nobody. */
void target_follow_threads(struct target *target, void (*found)(void *context, pid_t tid),
                           void *context);
uint32_t target_thread_count(const struct target *target);

/* Code came: the maps are looked at again at the next follow. */
void target_code_changed(struct target *target);
/* Some times in a second: maps where they changed, tables that have come, CPU times. */
void target_follow(struct target *target, int64_t now_ns);
/* The program has an interpreter whose frames are wanted, and can be read of a thread that stands still. */
bool target_has_runtimes(const struct target *target);
/* Modules have their tables, or they take too long: samples are worth taking. */
bool target_is_ready(const struct target *target, int64_t now_ns);

/* Where a thread was, and what is known of it. */
struct target_sample {
    pid_t tid;
    int64_t at_ns;
    /* Where it was in the kernel: addresses there, leaf first; they stand before the program's own. */
    const uint64_t *kernel;
    uint32_t kernel_count;
    /* All registers of user mode. */
    const ucontext_t *registers;
    /* The stack, from its pointer on, as it was; beyond it nothing is read, for by now it is another. */
    const uint8_t *stack;
    uint64_t stack_at, stack_bytes;
    bool still; /* the thread stands still meanwhile: frames of interpreters can be read */
    uint64_t thread_pointer; /* 0: not known */
};

uint64_t target_stack_pointer(const ucontext_t *registers);

enum target_outcome { TARGET_WHOLE, TARGET_CUT, TARGET_ENDED_EARLY, TARGET_LOST };

/* A heap of samples comes together: those of one thread share what it has used meanwhile. Of each it is told first. */
void target_begin_heap(struct target *target);
void target_expect(struct target *target, pid_t tid);
/* Its weight is what the thread has used of the processor since its sample before, as the kernel counts it: so a sample that was
 * lost or came late leaves its time to the next one. CUT: a longer copy of the stack would have led on. */
enum target_outcome target_sample(struct target *target, const struct target_sample *sample);
/* A thread leaves its processor: its stack is walked, and told when it is back, with how long that took. what: enum feed_wait. */
enum target_outcome target_left(struct target *target, const struct target_sample *sample,
                                uint32_t what);
/* It does, whether target_left was told or not: the next one of that stands for all since. */
void target_away(struct target *target, pid_t tid);
/* By whom it is woken. */
void target_woken(struct target *target, pid_t tid, pid_t waker);
void target_back(struct target *target, pid_t tid, int64_t at_ns);
/* What threads that are still away have waited by now. */
void target_tell_waits(struct target *target, int64_t now_ns);
void target_waits_lost(struct target *target, uint64_t waits);
/* CPU time of that thread that no sample stands for yet. */
uint64_t target_unsampled_ns(struct target *target, pid_t tid);
void target_count_lost(struct target *target, enum feed_loss loss, uint64_t samples);

#endif
