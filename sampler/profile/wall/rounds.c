#include "rounds.h"

#include "../../feed/chance.h"
#include "../../capture/system/clock.h"
#include "../../include/isoscope/isoscope.h"
#include "../base/punctual.h"
#include "subject.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
    ROUND_JITTER =
        4,     /* rounds come up to a period / 4 late, or they could run in step with a loop */
    RESTS = 9, /* times as long as rounds take: they get a tenth of a processor at most */
    IDLE_ROUNDS = 8, /* without one where no thread wants a look, but new ones may be there */
};

struct rounds {
    struct mapped_tables tables;
    char *tables_path;
    struct round memory; /* of the round that is held */

    struct punctual thread;
    pthread_mutex_t lock; /* held during a round; guards the rest */
    uint64_t cpu_ns;      /* of the thread, when the last rounds were over */
    struct subject *first;
};

int rounds_new(struct rounds **out, struct table_store *tables, const char *tables_path)
{
    struct rounds *rounds = calloc(1, sizeof(*rounds));

    if (!rounds || (tables && !(rounds->tables_path = strdup(tables_path)))) {
        free(rounds);
        return -ISOSCOPE_NO_MEMORY;
    }
    rounds->tables.store = tables;
    rounds->tables.path = rounds->tables_path;
    pthread_mutex_init(&rounds->lock, NULL);
    *out = rounds;
    return 0;
}

void rounds_stop(struct rounds *rounds)
{
    punctual_stop(&rounds->thread);
}

void rounds_free(struct rounds *rounds)
{
    if (!rounds)
        return;
    rounds_stop(rounds);
    mapped_tables_free(&rounds->tables);
    pthread_mutex_destroy(&rounds->lock);
    free(rounds->tables_path);
    free(rounds);
}

struct subject *rounds_enter(struct rounds *rounds, struct feed_reader *reader, int32_t pid)
{
    struct subject *subject = NULL;
    struct feed_writer writer;

    if (!feed_reader_writer(reader, &writer) ||
        subject_new(&subject, &writer, pid, &rounds->tables) < 0)
        return NULL;
    subject->rounds = rounds;
    pthread_mutex_lock(&rounds->lock);
    subject->next = rounds->first;
    rounds->first = subject;
    pthread_mutex_unlock(&rounds->lock);
    return subject;
}

void rounds_leave(struct subject *subject)
{
    struct rounds *rounds = subject ? subject->rounds : NULL;
    struct subject **link;

    if (!subject)
        return;
    pthread_mutex_lock(&rounds->lock);
    for (link = &rounds->first; *link != subject;)
        link = &(*link)->next;
    *link = subject->next;
    pthread_mutex_unlock(&rounds->lock);
    subject_free(subject);
}

void rounds_pause(struct subject *subject)
{
    if (subject)
        atomic_store_explicit(&subject->paused, true, memory_order_relaxed);
}

void rounds_finish(struct subject *subject)
{
    if (!subject)
        return;
    atomic_store_explicit(&subject->paused, true, memory_order_relaxed);
    pthread_mutex_lock(&subject->rounds->lock);
    subject_finish(subject, &subject->rounds->memory, clock_now_us());
    pthread_mutex_unlock(&subject->rounds->lock);
}

uint32_t rounds_period_us(const struct subject *subject)
{
    return subject ? subject_period_us(subject) : 0;
}

bool rounds_module(struct subject *subject, uint32_t number, struct feed_module_view *out)
{
    return subject && program_code_module(&subject->code, number, out);
}

struct round *rounds_begin_look(struct subject *subject, int64_t now_us)
{
    struct rounds *rounds = subject->rounds;

    pthread_mutex_lock(&rounds->lock);
    if (subject_begin_look(subject, &rounds->memory, now_us))
        return &rounds->memory;
    pthread_mutex_unlock(&rounds->lock);
    return NULL;
}

void rounds_end_look(struct subject *subject)
{
    subject_end_look(subject, &subject->rounds->memory);
    pthread_mutex_unlock(&subject->rounds->lock);
}

void rounds_look(struct rounds *rounds)
{
    punctual_wake(&rounds->thread);
}

static uint32_t jitter_us(struct subject *subject, uint32_t period_us)
{
    return (chance_next(&subject->random) >> 8) % (period_us / ROUND_JITTER);
}

static void plan_next(struct subject *subject, uint32_t period_us, int64_t now_us,
                      int64_t wanted_us)
{
    int64_t idle_us = now_us + (int64_t)IDLE_ROUNDS * period_us;

    if (wanted_us > idle_us)
        wanted_us = idle_us;
    if (wanted_us <= now_us)
        wanted_us = now_us + 1;
    subject->round_us +=
        (wanted_us - subject->round_us + period_us - 1) / period_us * (int64_t)period_us;
    subject->due_us = subject->round_us + jitter_us(subject, period_us);
}

/* Returns when it wants to be looked at again. */
static int64_t hold(struct rounds *rounds, struct subject *subject, int64_t now_us)
{
    uint32_t period_us = subject_period_us(subject);

    if (atomic_load_explicit(&subject->paused, memory_order_relaxed))
        return INT64_MAX;
    if (!period_us) {
        subject_forget(subject);
        return INT64_MAX;
    }
    if (!subject->round_us)
        subject->round_us = subject->due_us = now_us;
    if (now_us >= subject->due_us)
        plan_next(subject, period_us, now_us, subject_round(subject, &rounds->memory, now_us));
    return subject->due_us;
}

/* With the lock. Rounds that take long are held less often, and then stand for several. */
static int64_t hold_all(struct rounds *rounds, int64_t now_us)
{
    uint64_t cpu_ns, took_us;
    int64_t next_us = INT64_MAX, rested_us;

    for (struct subject *subject = rounds->first; subject; subject = subject->next) {
        int64_t due_us = hold(rounds, subject, now_us);

        next_us = due_us < next_us ? due_us : next_us;
    }
    cpu_ns = clock_thread_cpu_ns();
    took_us = rounds->cpu_ns ? (cpu_ns - rounds->cpu_ns) / 1000 : 0;
    rounds->cpu_ns = cpu_ns;
    rested_us = now_us + RESTS * (int64_t)took_us;
    return next_us < rested_us ? rested_us : next_us;
}

int64_t rounds_hold(struct rounds *rounds, int64_t now_us)
{
    int64_t next_us;

    pthread_mutex_lock(&rounds->lock);
    next_us = hold_all(rounds, now_us);
    pthread_mutex_unlock(&rounds->lock);
    return next_us;
}

static int64_t turn(void *context)
{
    int64_t next_us = rounds_hold(context, clock_now_us());

    return next_us == INT64_MAX ? INT64_MAX : next_us * 1000;
}

int rounds_start(struct rounds *rounds)
{
    return punctual_start(&rounds->thread, "iso-wall", turn, rounds);
}
