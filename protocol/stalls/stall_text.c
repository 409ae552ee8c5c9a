#include "stall_text.h"

#include "stall_words.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A sentence that grows; what finds no room is left out. */
struct sentence {
    char *text;
    size_t length;
};

__attribute__((format(printf, 2, 3))) static void say(struct sentence *sentence, const char *format,
                                                      ...)
{
    size_t room = STALL_TEXT_MAX - sentence->length;
    va_list arguments;
    int length;

    va_start(arguments, format);
    length = vsnprintf(sentence->text + sentence->length, room, format, arguments);
    va_end(arguments);
    if (length > 0)
        sentence->length += (size_t)length < room ? (size_t)length : room - 1;
}

static int64_t ms_of(uint64_t ns)
{
    return (int64_t)((ns + 500000) / 1000000);
}

static void say_call(struct sentence *sentence, const struct stall_evidence *evidence)
{
    if (evidence->system_call[0])
        say(sentence, " in %s", evidence->system_call);
}

static void say_descriptor(struct sentence *sentence, const struct stall_evidence *evidence)
{
    if (evidence->descriptor >= 0)
        say(sentence, " on descriptor %" PRId32, evidence->descriptor);
    if (evidence->path[0])
        say(sentence, evidence->descriptor >= 0 ? " (%s)" : " on %s", evidence->path);
}

/* what: "thread", "process". */
static void say_holder(struct sentence *sentence, const struct stall_evidence *evidence,
                       const char *what)
{
    if (!evidence->holder_tid)
        return say(sentence, " for another %s", what);
    say(sentence, " for %s %" PRId32, what, evidence->holder_tid);
    if (evidence->holder[0])
        say(sentence, " '%s'", evidence->holder);
    if (evidence->holder_function[0])
        say(sentence, ", which stood in %s", evidence->holder_function);
}

/* What the kernel counted of it. */
static void say_figure(struct sentence *sentence, const struct stall *stall)
{
    const struct stall_evidence *evidence = &stall->evidence;

    if (stall->cause == STALL_CAUSE_BUSY && evidence->running_ns)
        say(sentence, " for %" PRId64 " ms", ms_of(evidence->running_ns));
    if (stall->cause == STALL_CAUSE_STARVED && evidence->runnable_ns)
        say(sentence, " for %" PRId64 " ms", ms_of(evidence->runnable_ns));
    if (stall->cause == STALL_CAUSE_HOST && evidence->host_late_ns)
        say(sentence, ", by %" PRId64 " ms", ms_of(evidence->host_late_ns));
    if (stall->cause == STALL_CAUSE_FAULT && evidence->faults)
        say(sentence, ": %" PRIu64 " major faults", evidence->faults);
}

static void say_cause(struct sentence *sentence, const struct stall *stall)
{
#define CAUSE_TEXT(name, word, text) [STALL_CAUSE_##name] = text,
    static const char *const texts[] = { STALL_CAUSES(CAUSE_TEXT) };
#undef CAUSE_TEXT
    const struct stall_evidence *evidence = &stall->evidence;
    bool is_known = evidence->system_call[0] || evidence->descriptor >= 0 || evidence->path[0];

    if (stall->cause == STALL_CAUSE_LOCK || stall->cause == STALL_CAUSE_CHILD) {
        say(sentence, "it waited");
        say_call(sentence, evidence);
        return say_holder(sentence, evidence,
                          stall->cause == STALL_CAUSE_LOCK ? "thread" : "process");
    }
    if (stall->cause == STALL_CAUSE_IO && is_known) {
        say(sentence, "it waited");
        say_call(sentence, evidence);
        return say_descriptor(sentence, evidence);
    }
    say(sentence, "%s", texts[stall->cause]);
    if (stall->cause == STALL_CAUSE_SLEEP)
        say_call(sentence, evidence);
    say_figure(sentence, stall);
}

void stall_cause_text(char out[STALL_TEXT_MAX], const struct stall *stall)
{
    struct sentence sentence = { .text = out };

    out[0] = '\0';
    say_cause(&sentence, stall);
}

void stall_message(char out[STALL_TEXT_MAX], const struct stall *stall, const char *process,
                   int32_t pid)
{
    struct sentence sentence = { .text = out };

    say(&sentence, "%s (%" PRId32 "): loop '%s' %s %" PRId64 " ms", process, pid, stall->name,
        stall->ongoing ? "has taken" : "took", stall_range_ms(stall->duration_ns));
    if (stall->culprit.function[0])
        say(&sentence, ", in %s (%" PRIu32 " of %" PRIu32 " looks)", stall->culprit.function,
            stall->culprit_looks, stall->looks);
    if (stall->caller.function[0] && strcmp(stall->caller.function, stall->culprit.function) != 0)
        say(&sentence, ", called by %s", stall->caller.function);
    say(&sentence, ": ");
    say_cause(&sentence, stall);
    if (stall->equals > 1)
        say(&sentence, " (stall %" PRIu32 " of this kind)", stall->equals);
}

void cpu_high_message(char out[STALL_TEXT_MAX], const struct cpu_high *high, const char *process,
                      int32_t pid, const char *thread)
{
    struct sentence sentence = { .text = out };

    say(&sentence, "%s (%" PRId32 "): ", process, pid);
    if (high->tid)
        say(&sentence, "thread %" PRId32 "%s%s%s", high->tid, *thread ? " '" : "", thread,
            *thread ? "'" : "");
    else
        say(&sentence, "the process");
    say(&sentence, " used %" PRIu32 " %% of a processor for %" PRId64 " seconds",
        (high->permille + 5) / 10, (high->to_us - high->from_us + 500000) / 1000000);
}

/* Of those with the culprit on top the last, else the last. NULL: there is none. */
static const struct stall_stack *told_stack(const struct stall *stall)
{
    const struct stall_stack *last = NULL;

    for (uint32_t i = stall->stack_count; i-- > 0;) {
        const struct stall_stack *stack = &stall->stacks[i];

        if (stack->depth && !strcmp(stack->functions[0], stall->culprit.function))
            return stack;
        if (stack->depth && !last)
            last = stack;
    }
    return last;
}

char *stall_stack_text(const struct stall *stall)
{
    const struct stall_stack *stack = told_stack(stall);
    char *text = NULL, *at;
    size_t size = 1;

    for (uint32_t i = 0; stack && i < stack->depth; i++)
        size += strlen(stack->functions[i]) + 1;
    text = stack ? malloc(size) : NULL;
    if (!text)
        return NULL;
    at = text;
    for (uint32_t i = 0; i < stack->depth; i++)
        at += sprintf(at, "%s%s", i ? "\n" : "", stack->functions[i]);
    return text;
}
