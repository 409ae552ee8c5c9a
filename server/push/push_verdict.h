/*
 * push_verdict.h - what an engine's answer means for a profile, and how long to wait before the next
 * try.
 */
#ifndef ISOSCOPE_PUSH_VERDICT_H
#define ISOSCOPE_PUSH_VERDICT_H

#include "push_request.h"

enum push_verdict {
    PUSH_SENT,
    PUSH_AGAIN,   /* the engine is down, busy, or limits us */
    PUSH_REFUSED, /* it will never take this one */
};

/* status: of HTTP; 0: there was no answer that could be understood. */
enum push_verdict push_verdict(enum push_form form, long status);

/* Of an OTLP receiver's answer to what it took: how many profiles it left out. The answer may be cut
 * off. */
uint64_t push_rejected(const uint8_t *answer, size_t length);
/* The text in it, of what it took (status 2xx) or did not; "": there is none. */
void push_otlp_words(const uint8_t *answer, size_t length, long status, char *out, size_t size);

enum { PUSH_WAIT_MS_MAX = 60 * 1000, PUSH_RETRY_AFTER_S_MAX = 600 };

/* failures: in a row, at least 1. Doubles from a second on, less up to half of it by chance (random: any
 * number), so that many senders do not come back at once. At least what the engine asks for. */
uint32_t push_wait_ms(unsigned failures, long retry_after_s, uint32_t random);

#endif
