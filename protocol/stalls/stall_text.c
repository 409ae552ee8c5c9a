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

void stall_message(char out[STALL_TEXT_MAX], const struct stall *stall, const char *process,
                   int32_t pid)
{
    struct sentence sentence = { .text = out };
    char cause[STALL_TEXT_MAX];

    say(&sentence, "%s (%" PRId32 "): loop '%s' %s %" PRId64 " ms", process, pid, stall->name,
        stall->ongoing ? "has taken" : "took", stall_range_ms(stall->duration_ns));
    if (stall->culprit.function[0])
        say(&sentence, ", %" PRId64 " of them in %s", ms_of((uint64_t)stall->culprit_ns),
            stall->culprit.function);
    if (stall->caller.function[0] && strcmp(stall->caller.function, stall->culprit.function) != 0)
        say(&sentence, ", called by %s", stall->caller.function);
    stall_cause_text(stall, cause, sizeof(cause));
    say(&sentence, ": %s", cause);
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
