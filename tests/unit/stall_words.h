/*
 * stall_words.h - stalls and loops of a profile in words, for tests.
 */
#ifndef STALL_WORDS_H
#define STALL_WORDS_H

#include "sampler/profile/stalls.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static inline void tell_stall(const struct stall *stall, FILE *out)
{
    const struct stall_evidence *evidence = &stall->evidence;

    fprintf(out, "%" PRIu64 " of %" PRIu64 " %d '%s' '%s' loop %u level %d%s%s\n", stall->number,
            stall->process_id, stall->tid, stall->thread_name, stall->name, stall->loop,
            stall->level, stall->ongoing ? " ongoing" : "", stall->told ? " told" : "");
    fprintf(out,
            "equals %u updates %u limit %" PRId64 " from %" PRId64 "-%" PRId64 " for %" PRId64
            "-%" PRId64 " cause %d\n",
            stall->equals, stall->updates, stall->limit_ns, stall->start_ns.min,
            stall->start_ns.max, stall->duration_ns.min, stall->duration_ns.max, stall->cause);
    fprintf(out,
            "%" PRIu64 " %" PRIu64 " %" PRIu64 " faults %" PRIu64 " late %" PRIu64
            " '%s' %d '%s' by %d '%s' in '%s'\n",
            evidence->running_ns, evidence->runnable_ns, evidence->sleeping_ns, evidence->faults,
            evidence->host_late_ns, evidence->system_call, evidence->descriptor, evidence->path,
            evidence->holder_tid, evidence->holder, evidence->holder_function);
    fprintf(out,
            "culprit '%s' '%s' %s:%u caller '%s' '%s' %s:%u %" PRId64 " %u/%u tag %s slice %s\n",
            stall->culprit.function, stall->culprit.library,
            stall->culprit.file ? stall->culprit.file : "-", stall->culprit.line,
            stall->caller.function, stall->caller.library,
            stall->caller.file ? stall->caller.file : "-", stall->caller.line, stall->culprit_ns,
            stall->culprit_looks, stall->looks, stall->tag ? stall->tag : "-",
            stall->slice ? stall->slice : "-");
    for (uint32_t i = 0; i < stall->prefix_count; i++)
        fprintf(out, "prefix '%s'\n", stall->prefix[i]);
    for (uint32_t i = 0; i < stall->run_count; i++)
        fprintf(out, "run '%s' %" PRId64 "-%" PRId64 " %u\n", stall->runs[i].function,
                stall->runs[i].from_ns, stall->runs[i].to_ns, stall->runs[i].looks);
    for (uint32_t i = 0; i < stall->stack_count; i++) {
        fprintf(out, "stack %" PRId64 " %d:", stall->stacks[i].at_ns, stall->stacks[i].state);
        for (uint32_t frame = 0; frame < stall->stacks[i].depth; frame++)
            fprintf(out, " '%s'", stall->stacks[i].functions[frame]);
        fprintf(out, "\n");
    }
}

static inline void tell_stalls(struct profile *profile, FILE *out)
{
    struct stalls *stalls;

    if (stalls_take(&stalls, profile, &(struct stalls_window){ 0 }) < 0)
        abort();
    for (size_t i = 0; i < stalls_count(stalls); i++)
        tell_stall(stalls_at(stalls, i), out);
    stalls_free(stalls);
}

static inline void tell_times(const char *name, const struct loop_times *times, FILE *out)
{
    int end = LOOP_BUCKETS;

    while (end > 0 && !times->buckets[end - 1])
        end--;
    fprintf(out, " %s %" PRIu64 " %" PRIu64 " %" PRId64 "-%" PRId64 ":", name, times->count,
            times->sum_ns, times->max_ns.min, times->max_ns.max);
    for (int i = 0; i < end; i++)
        fprintf(out, " %" PRIu64, times->buckets[i]);
    fprintf(out, "\n");
}

static inline void tell_loop(const struct loop_info *loop, FILE *out)
{
    fprintf(out, "loop %u of %" PRIu64 " %d '%s' '%s' kind %d%s%s%s %" PRIu64 "\n", loop->number,
            loop->process_id, loop->tid, loop->thread_name, loop->name, loop->kind,
            loop->ended ? " ended" : "", loop->watched ? " watched" : "", loop->busy ? " busy" : "",
            loop->dispatches);
    tell_times("dispatch", &loop->dispatch, out);
    tell_times("delay", &loop->delay, out);
    fprintf(out, " blocking %" PRIu64 " dismissed %" PRIu64 " levels", loop->blocking_ns,
            loop->dismissed);
    for (int level = 0; level < STALL_LEVEL_COUNT; level++)
        fprintf(out, " %" PRIu64, loop->levels[level]);
    fprintf(out, " causes");
    for (int cause = 0; cause < STALL_CAUSE_COUNT; cause++)
        fprintf(out, " %" PRIu64, loop->causes[cause]);
    fprintf(out, " limits");
    for (int level = 0; level < STALL_LEVEL_COUNT; level++)
        fprintf(out, " %u", loop->limits_ms[level]);
    fprintf(out, "\n");
}

/* The first hundred of each. */
static inline void tell_loops(struct profile *profile, FILE *out)
{
    const struct stall_settings settings = profile_stall_settings(profile);
    struct unwatched_thread unwatched[100];
    struct loop_info loops[100];
    struct cpu_high highs[100];
    size_t count = profile_loops(profile, 0, loops, 100);

    fprintf(out, "watch %d %s %u %u %u %u\n", settings.watch, settings.names, settings.limits_ms[0],
            settings.limits_ms[1], settings.limits_ms[2], settings.limits_ms[3]);
    for (size_t i = 0; i < count && i < 100; i++)
        tell_loop(&loops[i], out);
    count = profile_unwatched(profile, 0, unwatched, 100);
    for (size_t i = 0; i < count && i < 100; i++)
        fprintf(out, "unwatched %" PRIu64 " %d %s %s\n", unwatched[i].process_id, unwatched[i].tid,
                unwatched[i].name, unwatched[i].system_call);
    count = profile_cpu_high(profile, 0, highs, 100);
    for (size_t i = 0; i < count && i < 100; i++)
        fprintf(out, "high %" PRIu64 " of %" PRIu64 " %d %" PRId64 "-%" PRId64 " %u\n",
                highs[i].number, highs[i].process_id, highs[i].tid, highs[i].from_us,
                highs[i].to_us, highs[i].permille);
}

#endif
