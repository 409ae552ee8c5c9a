#include "push_sender.h"

#include "../console/log_line.h"
#include "push_delivery.h"

#include "../../sampler/include/isoscope/isoscope.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct push_sender {
    struct push_sender_plan plan;
    struct push_delivery *delivery;
    pthread_t thread;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t changed;
    bool woken, finishing, stopping;
    struct push_counts counts;
    unsigned failures; /* in a row; the thread's own, as are the next */
    uint32_t random;
};

static int64_t now_ms(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return now.tv_sec * INT64_C(1000) + now.tv_nsec / 1000000;
}

static uint32_t next_random(struct push_sender *sender)
{
    sender->random = sender->random * 1664525 + 1013904223;
    return sender->random >> 8;
}

/* Once for each time that it is down. */
static void say_down(const struct push_sender *sender, const struct push_reply *reply)
{
    if (sender->failures != 1)
        return;
    if (reply->status)
        log_line("--push: %s answers with status %ld; profiles wait in %s",
                 sender->plan.target->url, reply->status, sender->plan.folder);
    else
        log_line("--push: %s: %s; profiles wait in %s", sender->plan.target->url, reply->words,
                 sender->plan.folder);
}

static void count(struct push_sender *sender, enum push_verdict verdict)
{
    pthread_mutex_lock(&sender->lock);
    sender->counts.sent += verdict == PUSH_SENT;
    sender->counts.refused += verdict == PUSH_REFUSED;
    pthread_mutex_unlock(&sender->lock);
}

/* How long to wait before the next one; -1: until there is one. */
static int64_t send_one(struct push_sender *sender)
{
    struct push_entry entry;
    struct push_reply reply;
    enum push_verdict verdict;

    if (!push_queue_take(sender->plan.queue, now_ms(CLOCK_REALTIME), &entry))
        return -1;
    verdict = push_deliver(sender->delivery, &entry.profile, entry.bytes, entry.length, &reply);
    push_queue_done(sender->plan.queue, &entry, verdict != PUSH_AGAIN);
    count(sender, verdict);
    if (verdict == PUSH_AGAIN) {
        sender->failures++;
        say_down(sender, &reply);
        return push_wait_ms(sender->failures, reply.retry_after_s, next_random(sender));
    }
    if (sender->failures)
        log_line("--push: %s answers again", sender->plan.target->url);
    sender->failures = 0;
    if (verdict == PUSH_REFUSED)
        push_delivery_say_refused(sender->delivery, &reply);
    return 0;
}

/* Until so many milliseconds are over (-1: for ever), or it is told that there is something. With the
 * engine down, new profiles are no reason to try sooner. */
static void wait(struct push_sender *sender, int64_t ms)
{
    int64_t until = now_ms(CLOCK_MONOTONIC) + ms;
    const struct timespec when = { until / 1000, until % 1000 * 1000000 };
    int over = 0;

    while (!sender->stopping && !sender->finishing && !over && !(ms < 0 && sender->woken))
        over = ms < 0 ? pthread_cond_wait(&sender->changed, &sender->lock)
                      : pthread_cond_timedwait(&sender->changed, &sender->lock, &when);
    sender->woken = false;
}

static void *run(void *context)
{
    struct push_sender *sender = context;
    bool over = false;

    pthread_mutex_lock(&sender->lock);
    while (!sender->stopping && !over) {
        bool last = sender->finishing;

        sender->woken = false;
        pthread_mutex_unlock(&sender->lock);
        int64_t ms = send_one(sender);
        pthread_mutex_lock(&sender->lock);
        over = last && ms;
        if (!over && ms)
            wait(sender, ms);
    }
    pthread_mutex_unlock(&sender->lock);
    sender->plan.left(sender->plan.context);
    return NULL;
}

/* Deaf to signals, which are the service's. */
static int start(struct push_sender *sender)
{
    sigset_t all, before;
    int status;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    status = pthread_create(&sender->thread, NULL, run, sender);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return status ? -ISOSCOPE_SYSTEM : 0;
}

static void release(struct push_sender *sender)
{
    push_delivery_free(sender->delivery);
    pthread_cond_destroy(&sender->changed);
    pthread_mutex_destroy(&sender->lock);
    free(sender);
}

int push_sender_new(struct push_sender **out, const struct push_sender_plan *plan, char *error,
                    size_t error_size)
{
    const struct push_delivery_plan way = { plan->target, plan->headers, plan->zstd };
    struct push_sender *sender = calloc(1, sizeof(*sender));
    pthread_condattr_t clock;
    int status;

    if (!sender) {
        snprintf(error, error_size, "out of memory");
        return -ISOSCOPE_NO_MEMORY;
    }
    sender->plan = *plan;
    sender->random = (uint32_t)now_ms(CLOCK_REALTIME);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&sender->changed, &clock);
    pthread_condattr_destroy(&clock);
    pthread_mutex_init(&sender->lock, NULL);
    status = push_delivery_new(&sender->delivery, &way, error, error_size);
    if (status == 0 && (status = start(sender)) < 0)
        snprintf(error, error_size, "no thread can be made");
    if (status < 0) {
        release(sender);
        return status;
    }
    *out = sender;
    return 0;
}

static void tell(struct push_sender *sender, bool *what)
{
    pthread_mutex_lock(&sender->lock);
    *what = true;
    pthread_cond_signal(&sender->changed);
    pthread_mutex_unlock(&sender->lock);
}

void push_sender_wake(struct push_sender *sender)
{
    tell(sender, &sender->woken);
}

void push_sender_finish(struct push_sender *sender)
{
    tell(sender, &sender->finishing);
}

void push_sender_free(struct push_sender *sender)
{
    if (!sender)
        return;
    push_delivery_cancel(sender->delivery);
    tell(sender, &sender->stopping);
    pthread_join(sender->thread, NULL);
    release(sender);
}

struct push_counts push_sender_counts(struct push_sender *sender)
{
    struct push_counts counts;

    pthread_mutex_lock(&sender->lock);
    counts = sender->counts;
    pthread_mutex_unlock(&sender->lock);
    return counts;
}
