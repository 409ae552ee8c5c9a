#include "../stalls.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define STALL_TEXT(name, word, text) text,
static const char *const texts[] = { STALL_CAUSES(STALL_TEXT) };
#undef STALL_TEXT

struct sentence {
    char *out;
    size_t bytes, used;
};

__attribute__((format(printf, 2, 3))) static void say(struct sentence *to, const char *format, ...)
{
    va_list arguments;
    int more;

    if (to->used >= to->bytes)
        return;
    va_start(arguments, format);
    more = vsnprintf(to->out + to->used, to->bytes - to->used, format, arguments);
    va_end(arguments);
    if (more > 0)
        to->used += (size_t)more;
}

static double ms(uint64_t ns)
{
    return (double)ns / 1e6;
}

static void say_call(struct sentence *to, const struct stall_evidence *evidence)
{
    if (*evidence->system_call)
        say(to, "it waited in %s", evidence->system_call);
    else
        say(to, "it waited");
}

static void say_descriptor(struct sentence *to, const struct stall_evidence *evidence)
{
    if (*evidence->path)
        say(to, " on %s", evidence->path);
    else if (evidence->descriptor >= 0)
        say(to, " on descriptor %d", evidence->descriptor);
}

static void say_holder(struct sentence *to, const struct stall_evidence *evidence)
{
    if (!evidence->holder_tid) {
        say(to, " for another thread");
        return;
    }
    say(to, " for thread %d", evidence->holder_tid);
    if (*evidence->holder)
        say(to, " '%s'", evidence->holder);
    if (*evidence->holder_function)
        say(to, ", which stood in %s", evidence->holder_function);
}

static void say_child(struct sentence *to, const struct stall_evidence *evidence)
{
    if (evidence->holder_tid)
        say(to, " for process %d", evidence->holder_tid);
    else
        say(to, " for another process");
    if (*evidence->holder)
        say(to, " '%s'", evidence->holder);
}

/* What the kernel says of its time. */
static void say_times(struct sentence *to, const struct stall *stall)
{
    const struct stall_evidence *evidence = &stall->evidence;

    switch (stall->cause) {
    case STALL_CAUSE_BUSY:
        if (evidence->running_ns)
            say(to, " for %.0f ms", ms(evidence->running_ns));
        break;
    case STALL_CAUSE_STARVED:
        if (evidence->runnable_ns)
            say(to, " for %.0f ms", ms(evidence->runnable_ns));
        break;
    case STALL_CAUSE_HOST:
        if (evidence->host_late_ns)
            say(to, ", by %.0f ms", ms(evidence->host_late_ns));
        break;
    case STALL_CAUSE_FAULT:
        if (evidence->faults)
            say(to, ": %llu page faults", (unsigned long long)evidence->faults);
        break;
    default:
        break;
    }
}

void stall_cause_text(const struct stall *stall, char *out, size_t bytes)
{
    struct sentence to = { out, bytes, 0 };
    const struct stall_evidence *evidence = &stall->evidence;

    switch (stall->cause) {
    case STALL_CAUSE_LOCK:
        say_call(&to, evidence);
        say_holder(&to, evidence);
        break;
    case STALL_CAUSE_CHILD:
        say_call(&to, evidence);
        say_child(&to, evidence);
        break;
    case STALL_CAUSE_IO:
    case STALL_CAUSE_SLEEP:
        if (*evidence->system_call || *evidence->path || evidence->descriptor >= 0) {
            say(&to, stall->cause == STALL_CAUSE_SLEEP ? "it slept by its own wish" : "it waited");
            if (*evidence->system_call)
                say(&to, " in %s", evidence->system_call);
            say_descriptor(&to, evidence);
            break;
        } /* fall through */
    default:
        say(&to, "%s", texts[stall->cause < STALL_CAUSE_COUNT ? stall->cause : 0]);
    }
    say_times(&to, stall);
}
