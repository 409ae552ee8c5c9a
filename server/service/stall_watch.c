#include "stall_watch.h"

#include "../console/log_line.h"
#include "stall_command.h"

#include "../../sampler/include/isoscope/isoscope.h"
#include "../../sampler/profile/snapshot.h"
#include "../../sampler/profile/stall_marks.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SAID_MAX = 10,
    TEXT_BYTES = 1024,
};

/* What is known of a stall, by its number. */
enum {
    BEGIN_TOLD = 1, /* to the command */
    END_TOLD = 2,
    COUNTS = 4,  /* against the limit */
    EXCUSED = 8, /* long enough, and not the program's fault */
};

struct said {
    uint64_t number; /* 0: free */
    char text[TEXT_BYTES];
};

struct stall_watch {
    const struct stall_options *options;
    struct profile *profile;
    struct stall_command *command; /* NULL: none is wanted */
    uint64_t seen;                 /* changes up to it */
    struct stall_marks known;
    uint64_t counting, excused;
    struct said said[SAID_MAX]; /* of those that count, as they were told last */
};

int stall_watch_new(struct stall_watch **out, const struct stall_options *options,
                    struct profile *profile, struct loop *loop, const char *uri)
{
    if (!options->fail_ms && !options->command)
        return 0;

    struct stall_watch *watch = *out = calloc(1, sizeof(*watch));
    int status = watch ? 0 : -ISOSCOPE_NO_MEMORY;

    if (watch) {
        watch->options = options;
        watch->profile = profile;
    }
    if (status == 0 && options->command)
        status = stall_command_new(&watch->command, loop, options->command, uri);
    if (status < 0)
        log_line("cannot watch for stalls: no memory or descriptor is free");
    return status;
}

void stall_watch_free(struct stall_watch *watch)
{
    if (!watch)
        return;
    stall_command_free(watch->command);
    stall_marks_free(&watch->known);
    free(watch);
}

#define STALL_WORD(name, word, ...) word,
static const char *const causes[] = { STALL_CAUSES(STALL_WORD) };
#undef STALL_WORD

static void add(char text[TEXT_BYTES], const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void add(char text[TEXT_BYTES], const char *format, ...)
{
    size_t length = strlen(text);
    va_list words;

    va_start(words, format);
    vsnprintf(text + length, TEXT_BYTES - length, format, words);
    va_end(words);
}

static void describe(char text[TEXT_BYTES], const struct stall *stall,
                     const struct process_info *process)
{
    const char *function = stall->culprit.function, *caller = stall->caller.function;

    text[0] = '\0';
    add(text, "loop '%s'", stall->name);
    if (strcmp(stall->name, stall->thread_name) != 0)
        add(text, " of thread '%s'", stall->thread_name);
    add(text, " in %s (%d) stalled for %" PRId64 " ms%s: %s", process->name, process->pid,
        stall->duration_ns.min / 1000000, stall->ongoing ? " and more" : "", causes[stall->cause]);
    if (function && *function)
        add(text, ", in %s", function);
    if (caller && *caller && (!function || strcmp(caller, function) != 0))
        add(text, ", called by %s", caller);
}

static struct said *find_said(struct stall_watch *watch, uint64_t number)
{
    for (int i = 0; i < SAID_MAX; i++)
        if (watch->said[i].number == number)
            return &watch->said[i];
    return NULL;
}

static void keep_text(struct stall_watch *watch, const struct stall *stall,
                      const struct process_info *process)
{
    struct said *said = find_said(watch, stall->number);

    if (!said)
        said = find_said(watch, 0);
    if (!said)
        return;
    said->number = stall->number;
    describe(said->text, stall, process);
}

static uint8_t verdict(const struct stall_watch *watch, const struct stall *stall)
{
    int64_t limit_ns = watch->options->fail_ms * INT64_C(1000000);

    if (!limit_ns || stall->duration_ns.min < limit_ns)
        return 0;
    return stall->cause == STALL_CAUSE_HOST || stall->cause == STALL_CAUSE_STOPPED ? EXCUSED
                                                                                   : COUNTS;
}

/* Its cause may be another one than when it was looked at before. */
static void judge(struct stall_watch *watch, const struct stall *stall,
                  const struct process_info *process, uint8_t *known)
{
    uint8_t now = verdict(watch, stall);
    struct said *said = now == COUNTS ? NULL : find_said(watch, stall->number);

    watch->counting -= (*known & COUNTS) != 0;
    watch->excused -= (*known & EXCUSED) != 0;
    *known = (uint8_t)((*known & ~(COUNTS | EXCUSED)) | now);
    watch->counting += now == COUNTS;
    watch->excused += now == EXCUSED;
    if (said)
        said->number = 0;
    if (now == COUNTS)
        keep_text(watch, stall, process);
}

static void tell_command(struct stall_watch *watch, const struct stall *stall,
                         const struct process_info *process, uint8_t *known)
{
    if (!watch->command || !stall->told)
        return;
    if (!(*known & BEGIN_TOLD))
        stall_command_add(watch->command, stall, process->pid, false);
    if (!stall->ongoing && !(*known & END_TOLD))
        stall_command_add(watch->command, stall, process->pid, true);
    *known |= stall->ongoing ? BEGIN_TOLD : BEGIN_TOLD | END_TOLD;
}

static void look_at(struct stall_watch *watch, const struct stall *stall)
{
    uint8_t *known = stall_marks_of(&watch->known, stall->number);
    struct process_info process = { .name = "a process" };

    if (!known)
        return;
    profile_process(watch->profile, stall->process_id, &process);
    judge(watch, stall, &process, known);
    tell_command(watch, stall, &process, known);
}

void stall_watch_look(struct stall_watch *watch)
{
    struct stalls *stalls;

    if (!watch || profile_stalls_change(watch->profile) == watch->seen)
        return;

    const struct stalls_window window = { .since = watch->seen };
    if (stalls_take(&stalls, watch->profile, &window) < 0)
        return; /* no memory now; the next change asks again */
    for (size_t i = 0; i < stalls_count(stalls); i++)
        look_at(watch, stalls_at(stalls, i));
    watch->seen = stalls_change(stalls);
    stalls_free(stalls);
}

static void say_counting(const struct stall_watch *watch, bool failed)
{
    uint64_t said = 0;

    for (int i = 0; i < SAID_MAX; i++)
        if (watch->said[i].number) {
            log_line("%s", watch->said[i].text);
            said++;
        }
    if (watch->counting > said)
        log_line("... and %" PRIu64 " more", watch->counting - said);
    log_line("%" PRIu64 " stall%s of %u ms or longer (--fail-on-stall); the exit status is %s",
             watch->counting, watch->counting == 1 ? "" : "s", watch->options->fail_ms,
             failed ? "the program's own" : "3");
}

void stall_watch_finish(struct stall_watch *watch, bool failed)
{
    if (!watch)
        return;
    stall_watch_look(watch);
    if (watch->counting)
        say_counting(watch, failed);
    if (watch->excused)
        log_line("not counted by --fail-on-stall: %" PRIu64
                 " stall%s in which the whole machine was late, or the program was stopped",
                 watch->excused, watch->excused == 1 ? "" : "s");
    if (watch->command)
        stall_command_finish(watch->command);
}

bool stall_watch_fails(const struct stall_watch *watch)
{
    return watch && watch->counting;
}

bool stall_watch_runs(const struct stall_watch *watch)
{
    return watch && watch->command && stall_command_runs(watch->command);
}

void stall_watch_stop(struct stall_watch *watch)
{
    if (watch && watch->command)
        stall_command_stop(watch->command);
}
