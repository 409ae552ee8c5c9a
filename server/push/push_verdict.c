#include "push_verdict.h"

#include <stdbool.h>
#include <stddef.h>

enum { FIRST_MS = 1000, DOUBLINGS_MAX = 6, SECOND_MS = 1000 };

/* OTLP names those that may be tried again; all others must not. */
static bool otlp_again(long status)
{
    return status == 429 || status == 502 || status == 503 || status == 504;
}

/* Too slow a body, too early, too many: and all that is the server's own trouble. */
static bool pyroscope_again(long status)
{
    return status == 408 || status == 425 || status == 429 || status >= 500;
}

enum push_verdict push_verdict(enum push_form form, long status)
{
    if (status >= 200 && status < 300)
        return PUSH_SENT;
    if (!status || (form == PUSH_OTLP ? otlp_again(status) : pyroscope_again(status)))
        return PUSH_AGAIN;
    return PUSH_REFUSED;
}

struct message {
    const uint8_t *at, *end;
};

static bool read_varint(struct message *message, uint64_t *out)
{
    *out = 0;
    for (unsigned shift = 0; shift < 64 && message->at < message->end; shift += 7) {
        uint8_t byte = *message->at++;

        *out |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return true;
    }
    return false;
}

struct field {
    uint64_t number;
    uint64_t value;         /* of a varint */
    struct message content; /* of one with a length; what of it is there */
};

/* False: there is no further one that can be read. */
static bool read_field(struct message *message, struct field *out)
{
    uint64_t tag, size;

    *out = (struct field){ 0 };
    if (!read_varint(message, &tag))
        return false;
    out->number = tag >> 3;
    if ((tag & 7) == 0)
        return read_varint(message, &out->value);
    if ((tag & 7) != 2 || !read_varint(message, &size))
        return false;
    if (size > (uint64_t)(message->end - message->at))
        size = (uint64_t)(message->end - message->at);
    out->content = (struct message){ message->at, message->at + size };
    message->at += size;
    return true;
}

static bool find_field(struct message message, uint64_t number, struct field *out)
{
    while (read_field(&message, out))
        if (out->number == number)
            return true;
    return false;
}

/* ExportProfilesServiceResponse: partial_success 1 {rejected_profiles 1, error_message 2}. */
static struct message partial_success(const uint8_t *answer, size_t length)
{
    struct field partial;

    if (find_field((struct message){ answer, answer + length }, 1, &partial) && partial.content.at)
        return partial.content;
    return (struct message){ answer, answer };
}

uint64_t push_rejected(const uint8_t *answer, size_t length)
{
    struct field rejected;

    return find_field(partial_success(answer, length), 1, &rejected) ? rejected.value : 0;
}

/* google.rpc.Status has its message at 2, too. */
void push_otlp_words(const uint8_t *answer, size_t length, long status, char *out, size_t size)
{
    struct message message = { answer, answer + length };
    struct field words;
    size_t have = 0;

    if (status >= 200 && status < 300)
        message = partial_success(answer, length);
    if (find_field(message, 2, &words))
        for (; words.content.at < words.content.end && have + 1 < size; words.content.at++)
            out[have++] =
                *words.content.at < ' ' || *words.content.at > '~' ? '?' : (char)*words.content.at;
    out[have] = '\0';
}

uint32_t push_wait_ms(unsigned failures, long retry_after_s, uint32_t random)
{
    unsigned doublings = failures - 1 < DOUBLINGS_MAX ? failures - 1 : DOUBLINGS_MAX;
    uint32_t most = FIRST_MS << doublings, asked;

    if (most > PUSH_WAIT_MS_MAX)
        most = PUSH_WAIT_MS_MAX;
    if (retry_after_s > PUSH_RETRY_AFTER_S_MAX)
        retry_after_s = PUSH_RETRY_AFTER_S_MAX;
    asked = retry_after_s > 0 ? (uint32_t)retry_after_s * SECOND_MS : 0;
    most -= random % (most / 2 + 1);
    return most > asked ? most : asked;
}
