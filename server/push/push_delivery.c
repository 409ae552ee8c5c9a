#include "push_delivery.h"

#include "../console/log_line.h"
#include "push_packing.h"

#include "../../sampler/include/isoscope/isoscope.h"

#include <stdio.h>
#include <stdlib.h>

struct push_delivery {
    struct push_delivery_plan plan;
    struct push_post *post;
    enum push_packing packing; /* of the next request */
    bool packing_read;         /* the engine has taken one of that packing */
    bool said_refused;
};

/* What is delivered. */
struct content {
    const struct push_profile *profile;
    const char *bytes;
    size_t length;
};

static int make_body(const struct push_delivery *delivery, const struct content *of,
                     struct json_text *out)
{
    struct json_text json = { 0 };
    int status = 0;

    if (delivery->plan.target->form == PUSH_API) {
        status = push_request_json(&json, of->profile, of->bytes, of->length);
        if (status == 0 && delivery->packing == PUSH_GZIP)
            status = push_pack_gzip(out, json.data, json.length);
        else if (status == 0)
            json_text_raw(out, json.data, json.length);
        json_text_free(&json);
    } else if (delivery->packing == PUSH_ZSTD) {
        status = push_pack_zstd(out, of->bytes, of->length);
    } else { /* there is gzip around it already */
        json_text_raw(out, of->bytes, of->length);
    }
    return status == 0 && out->failed ? -ISOSCOPE_NO_MEMORY : status;
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

static void post_once(struct push_delivery *delivery, const char *url, const struct content *of,
                      struct push_reply *reply)
{
    const enum push_form form = delivery->plan.target->form;
    struct json_text content = { 0 };
    int status = make_body(delivery, of, &content);
    const struct push_body body = { type_of(form), content.data, content.length,
                                    push_packing_name(delivery->packing) };

    *reply = (struct push_reply){ .words = "out of memory" };
    if (status == 0)
        push_post_send(delivery->post, url, &body, reply);
    if (form == PUSH_OTLP && reply->status)
        push_otlp_words(reply->answer, reply->answer_length, reply->status, reply->words,
                        sizeof(reply->words));
    json_text_free(&content);
}

/* True: the engine does not seem to read this packing, and there is a simpler one. One that it has
 * taken once is not in question. */
static bool falls_back(struct push_delivery *delivery, long status)
{
    const enum push_form form = delivery->plan.target->form;
    const enum push_packing before = delivery->packing;

    if (status >= 200 && status < 300)
        delivery->packing_read = true;
    if (delivery->packing_read || !push_packing_unread(status))
        return false;
    delivery->packing = push_packing_simpler(form, before);
    return delivery->packing != before;
}

/* Where a simpler packing is refused for the same reason, the packing was not it: the next profile may
 * have the better one again. */
static void post(struct push_delivery *delivery, const struct content *of, struct push_reply *reply)
{
    const enum push_packing before = delivery->packing;
    struct json_text url = { 0 };

    *reply = (struct push_reply){ .words = "out of memory" };
    if (push_request_url(&url, delivery->plan.target, of->profile) == 0) {
        post_once(delivery, url.data, of, reply);
        while (falls_back(delivery, reply->status))
            post_once(delivery, url.data, of, reply);
        if (!delivery->packing_read)
            delivery->packing = before;
        else if (delivery->packing != before)
            log_line("--push: %s does not read %s: profiles go %s", delivery->plan.target->url,
                     push_packing_name(before),
                     delivery->packing == PUSH_GZIP ? "with gzip" : "unpacked");
    }
    json_text_free(&url);
}

/* An OTLP receiver may have taken the request, and not the profile in it. */
static enum push_verdict verdict_of(const struct push_delivery *delivery,
                                    const struct push_reply *reply)
{
    enum push_form form = delivery->plan.target->form;
    enum push_verdict verdict = push_verdict(form, reply->status);

    if (form == PUSH_OTLP && verdict == PUSH_SENT &&
        push_rejected(reply->answer, reply->answer_length))
        return PUSH_REFUSED;
    return verdict;
}

int push_delivery_new(struct push_delivery **out, const struct push_delivery_plan *plan,
                      char *error, size_t error_size)
{
    struct push_delivery *delivery = calloc(1, sizeof(*delivery));
    int status;

    if (!delivery) {
        snprintf(error, error_size, "out of memory");
        return -ISOSCOPE_NO_MEMORY;
    }
    delivery->plan = *plan;
    delivery->packing = push_packing_first(plan->target->form, plan->zstd);
    status = push_post_new(&delivery->post, plan->headers, error, error_size);
    if (status < 0)
        free(delivery);
    else
        *out = delivery;
    return status;
}

void push_delivery_free(struct push_delivery *delivery)
{
    if (!delivery)
        return;
    push_post_free(delivery->post);
    free(delivery);
}

enum push_verdict push_deliver(struct push_delivery *delivery, const struct push_profile *profile,
                               const char *bytes, size_t length, struct push_reply *out)
{
    post(delivery, &(struct content){ profile, bytes, length }, out);
    return verdict_of(delivery, out);
}

void push_delivery_say_refused(struct push_delivery *delivery, const struct push_reply *reply)
{
    if (!delivery->said_refused)
        log_line("--push: %s answers with status %ld: %s. Such profiles are dropped",
                 delivery->plan.target->url, reply->status,
                 reply->status >= 300 && reply->status < 400 ? "it is elsewhere; give that address"
                                                             : reply->words);
    delivery->said_refused = true;
}

void push_delivery_cancel(struct push_delivery *delivery)
{
    push_post_cancel(delivery->post);
}

void push_delivery_end_with(struct push_delivery *delivery, int fd)
{
    push_post_end_with(delivery->post, fd);
}
