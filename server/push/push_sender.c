#include "push_sender.h"

#include "../console/log_line.h"
#include "push_packing.h"
#include "push_post.h"
#include "push_verdict.h"

#include "../../sampler/include/isoscope/isoscope.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct push_sender {
    struct push_sender_plan plan;
    struct push_post *post;
    pthread_t thread;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t changed;
    bool woken, finishing, stopping;
    struct push_counts counts;
    unsigned failures; /* in a row; the thread's own, as are the next */
    uint32_t random;
    bool said_refused;
    enum push_packing packing; /* of the next request */
    bool packing_read;         /* the engine has taken one of that packing */
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

static void say_refused(struct push_sender *sender, const struct push_reply *reply)
{
    if (!sender->said_refused)
        log_line("--push: %s answers with status %ld: %s. Such profiles are dropped",
                 sender->plan.target->url, reply->status,
                 reply->status >= 300 && reply->status < 400 ? "it is elsewhere; give that address"
                                                             : reply->words);
    sender->said_refused = true;
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

/* In content: what entry's bytes do not have yet. */
static int make_body(const struct push_sender *sender, const struct push_entry *entry,
                     struct json_text *content)
{
    struct json_text json = { 0 };
    int status = 0;

    if (sender->plan.target->form == PUSH_API) {
        status = push_request_json(&json, &entry->profile, entry->bytes, entry->length);
        if (status == 0 && sender->packing == PUSH_GZIP)
            status = push_pack_gzip(content, json.data, json.length);
        else if (status == 0)
            json_text_raw(content, json.data, json.length);
        json_text_free(&json);
    } else if (sender->packing == PUSH_ZSTD) {
        status = push_pack_zstd(content, entry->bytes, entry->length);
    } else { /* the queue has gzip around all */
        json_text_raw(content, entry->bytes, entry->length);
    }
    return status == 0 && content->failed ? -ISOSCOPE_NO_MEMORY : status;
}

static const char *type_of(enum push_form form)
{
    switch (form) {
    case PUSH_API:
        return "application/json";
    case PUSH_OTLP:
        return "application/x-protobuf";
    case PUSH_INGEST:
        break;
    }
    return "application/octet-stream";
}

static void post_once(struct push_sender *sender, const char *url, const struct push_entry *entry,
                      struct push_reply *reply)
{
    const enum push_form form = sender->plan.target->form;
    struct json_text content = { 0 };
    int status = make_body(sender, entry, &content);
    const struct push_body body = { type_of(form), content.data, content.length,
                                    push_packing_name(sender->packing) };

    *reply = (struct push_reply){ .words = "out of memory" };
    if (status == 0)
        push_post_send(sender->post, url, &body, reply);
    if (form == PUSH_OTLP && reply->status)
        push_otlp_words(reply->answer, reply->answer_length, reply->status, reply->words,
                        sizeof(reply->words));
    json_text_free(&content);
}

/* True: the engine does not seem to read this packing, and there is a simpler one. One that it has
 * taken once is not in question. */
static bool falls_back(struct push_sender *sender, long status)
{
    const enum push_form form = sender->plan.target->form;
    const enum push_packing before = sender->packing;

    if (status >= 200 && status < 300)
        sender->packing_read = true;
    if (sender->packing_read || !push_packing_unread(status))
        return false;
    sender->packing = push_packing_simpler(form, before);
    return sender->packing != before;
}

/* Where a simpler packing is refused for the same reason, the packing was not it: the next profile may
 * have the better one again. */
static void post(struct push_sender *sender, const struct push_entry *entry,
                 struct push_reply *reply)
{
    const enum push_packing before = sender->packing;
    struct json_text url = { 0 };

    *reply = (struct push_reply){ .words = "out of memory" };
    if (push_request_url(&url, sender->plan.target, &entry->profile) == 0) {
        post_once(sender, url.data, entry, reply);
        while (falls_back(sender, reply->status))
            post_once(sender, url.data, entry, reply);
        if (!sender->packing_read)
            sender->packing = before;
        else if (sender->packing != before)
            log_line("--push: %s does not read %s: profiles go %s", sender->plan.target->url,
                     push_packing_name(before),
                     sender->packing == PUSH_GZIP ? "with gzip" : "unpacked");
    }
    json_text_free(&url);
}

/* An OTLP receiver may have taken the request, and not the profile in it. */
static enum push_verdict verdict_of(const struct push_sender *sender,
                                    const struct push_reply *reply)
{
    enum push_form form = sender->plan.target->form;
    enum push_verdict verdict = push_verdict(form, reply->status);

    if (form == PUSH_OTLP && verdict == PUSH_SENT &&
        push_rejected(reply->answer, reply->answer_length))
        return PUSH_REFUSED;
    return verdict;
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
    post(sender, &entry, &reply);
    verdict = verdict_of(sender, &reply);
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
        say_refused(sender, &reply);
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
    push_post_free(sender->post);
    pthread_cond_destroy(&sender->changed);
    pthread_mutex_destroy(&sender->lock);
    free(sender);
}

int push_sender_new(struct push_sender **out, const struct push_sender_plan *plan, char *error,
                    size_t error_size)
{
    struct push_sender *sender = calloc(1, sizeof(*sender));
    pthread_condattr_t clock;
    int status;

    if (!sender) {
        snprintf(error, error_size, "out of memory");
        return -ISOSCOPE_NO_MEMORY;
    }
    sender->plan = *plan;
    sender->packing = push_packing_first(plan->target->form, plan->zstd);
    sender->random = (uint32_t)now_ms(CLOCK_REALTIME);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&sender->changed, &clock);
    pthread_condattr_destroy(&clock);
    pthread_mutex_init(&sender->lock, NULL);
    status = push_post_new(&sender->post, plan->headers, error, error_size);
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
    push_post_cancel(sender->post);
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
