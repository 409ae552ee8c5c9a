#include "stall_steps.h"

#include "burn.h"
#include "stall_waits.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const int64_t MS = 1000000;

static double rounds_per_ms;
static _Thread_local struct burn burn = { .state = 88172645463325252u };

/* The best of some tries: the processor at its fastest, alone. */
void steps_start(void)
{
    enum { TRIES = 10, ROUNDS = 2000000 };

    for (int i = 0; i < TRIES; i++) {
        double begin = cpu_seconds(CLOCK_THREAD_CPUTIME_ID), rate;

        burn_rounds(&burn, ROUNDS);
        rate = ROUNDS / (1e3 * (cpu_seconds(CLOCK_THREAD_CPUTIME_ID) - begin));
        if (rate > rounds_per_ms)
            rounds_per_ms = rate;
    }
}

/* Without a look at a clock: nothing else is ever on top of the stack. */
#define CALIBRATED(name)                                                                           \
    __attribute__((noinline)) static void name(const char *ms)                                     \
    {                                                                                              \
        uint64_t rounds = (uint64_t)(atof(ms) * rounds_per_ms);                                    \
                                                                                                   \
        while (rounds > 0) {                                                                       \
            uint32_t some = rounds > 1000000 ? 1000000 : (uint32_t)rounds;                         \
                                                                                                   \
            burn_rounds(&burn, some);                                                              \
            rounds -= some;                                                                        \
        }                                                                                          \
    }

CALIBRATED(decode)
CALIBRATED(render)
CALIBRATED(compress)
CALIBRATED(store)

/* Two loops in turn: a pc of one, then of the other, and always the same function. */
__attribute__((noinline)) static void two_places(const char *ms)
{
    uint64_t rounds = (uint64_t)(atof(ms) * rounds_per_ms);
    uint64_t some = (uint64_t)(rounds_per_ms * 3), other = 1;

    for (uint64_t at = 0; at < rounds; at += 2 * some) {
        burn_rounds(&burn, (uint32_t)some);
        for (uint64_t i = 0; i < some; i++) {
            other ^= other << 7;
            other ^= other >> 9;
            other += i;
        }
    }
    burn.state ^= other | 1;
}

#define DRAWN(name)                                                                                \
    __attribute__((noinline)) static void name(uint32_t rounds)                                    \
    {                                                                                              \
        burn_rounds(&burn, rounds);                                                                \
    }

DRAWN(foo)
DRAWN(bar)
DRAWN(baz)

/* 32 : 6 : 2, in units that are drawn: no order that a timer could be in step with. */
__attribute__((noinline)) static void mix(const char *ms)
{
    uint64_t rounds = (uint64_t)(atof(ms) * rounds_per_ms);

    for (uint64_t at = 0; at < rounds;) {
        uint32_t some = burn_draw(&burn), who = (uint32_t)(burn_random(&burn) >> 20) % 40;

        (who < 32 ? foo : who < 38 ? bar : baz)(some);
        at += some;
    }
}

/* By the clock. */
__attribute__((noinline)) static void busy(const char *ms)
{
    int64_t end = now_ns() + (int64_t)(atof(ms) * (double)MS);

    while (now_ns() < end)
        for (int i = 0; i < 5; i++)
            burn_rounds(&burn, burn_draw(&burn));
}

/* Until a file of that name is there. */
__attribute__((noinline)) static void hold(const char *path)
{
    while (access(path, F_OK) != 0)
        for (int i = 0; i < 200; i++)
            burn_rounds(&burn, burn_draw(&burn));
}

__attribute__((noinline)) static void crash(const char *ms)
{
    busy(ms);
    abort();
}

struct kind {
    const char *name;
    void (*run)(const char *argument);
};

static const struct kind kinds[] = {
    { "decode", decode },
    { "render", render },
    { "compress", compress },
    { "store", store },
    { "mix", mix },
    { "two_places", two_places },
    { "busy", busy },
    { "hold", hold },
    { "crash", crash },
    { "sleep", wait_asleep },
    { "lock", wait_for_lock },
    { "pipe", wait_for_pipe },
    { "child", wait_for_child },
    { "dlopen", wait_for_library },
    { "fault", wait_for_page },
    { "starve", wait_for_processor },
    { "read", wait_for_file },
    { "touch", wait_for_mapping },
};

static const struct kind *kind_of(const char *name)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (strcmp(kinds[i].name, name) == 0)
            return &kinds[i];
    fprintf(stderr, "there is no part '%s'\n", name);
    exit(2);
}

void step_run(struct step *step)
{
    char text[STEP_TEXT_MAX], *rest = NULL;

    memcpy(text, step->text, sizeof(text));
    step->part_count = 0;
    for (char *word = strtok_r(text, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
        char *colon = strchr(word, ':');
        const struct kind *kind;
        struct step_part *part;

        if (colon)
            *colon = 0;
        if (step->part_count == STEP_PARTS_MAX)
            exit(2);
        kind = kind_of(word);
        part = &step->parts[step->part_count++];
        snprintf(part->name, sizeof(part->name), "%s", kind->name);
        part->begin_ns = now_ns();
        kind->run(colon ? colon + 1 : "0");
        part->end_ns = now_ns();
    }
}

void step_tell(const struct step *step, const char *kind, int loop)
{
    char line[4096];
    int used =
        snprintf(line, sizeof(line),
                 "{\"%s\": \"%s\", \"pid\": %d, \"tid\": %d, \"loop\": %d, \"asked\": %lld, "
                 "\"begin\": %lld, \"end\": %lld, \"left\": %lld, \"parts\": [",
                 kind, step->text, getpid(), gettid(), loop, (long long)step->asked_ns,
                 (long long)step->begin_ns, (long long)step->end_ns, (long long)step->left_ns);

    for (uint32_t i = 0; i < step->part_count; i++) {
        const struct step_part *part = &step->parts[i];

        used +=
            snprintf(line + used, sizeof(line) - (size_t)used, "%s[\"%s\", %lld, %lld]",
                     i ? ", " : "", part->name, (long long)part->begin_ns, (long long)part->end_ns);
    }
    used += snprintf(line + used, sizeof(line) - (size_t)used, "]}\n");
    if (write(STDOUT_FILENO, line, (size_t)used) != used)
        exit(1);
}
