#include "push_verdict.h"

enum { FIRST_MS = 1000, DOUBLINGS_MAX = 6, SECOND_MS = 1000 };

enum push_verdict push_verdict(long status)
{
    if (status >= 200 && status < 300)
        return PUSH_SENT;
    /* Too slow a body, too early, too many: and all that is the server's own trouble. */
    if (!status || status == 408 || status == 425 || status == 429 || status >= 500)
        return PUSH_AGAIN;
    return PUSH_REFUSED;
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
