#include "rests.h"

#include "../../feed/sys.h"

#include <limits.h>
#include <linux/futex.h>

static uint64_t holder_of(int32_t tid, enum rest_state state)
{
    return (uint64_t)(uint32_t)tid << 32 | state;
}

enum rest_state rests_state(const struct rest *rest, int32_t *tid)
{
    uint64_t holder = atomic_load(&rest->holder);

    *tid = (int32_t)(holder >> 32);
    return (enum rest_state)(uint32_t)holder;
}

/* The place it has already, or a free one. */
static struct rest *place_for(struct rests *rests, int32_t tid)
{
    for (int i = 0; i < RESTS_MAX; i++) {
        struct rest *rest = &rests->list[i];
        uint64_t over = holder_of(tid, REST_OVER);
        int32_t its_tid;

        rests_state(rest, &its_tid);
        /* The sampler's thread may just be giving back what is over. */
        if (its_tid == tid &&
            (rest->depth ||
             atomic_compare_exchange_strong(&rest->holder, &over, holder_of(tid, REST_ASKED))))
            return rest;
    }
    for (int i = 0; i < RESTS_MAX; i++) {
        uint64_t nobody = 0;

        if (atomic_compare_exchange_strong(&rests->list[i].holder, &nobody,
                                           holder_of(tid, REST_ASKED)))
            return &rests->list[i];
    }
    return NULL;
}

struct rest *rests_ask(struct rests *rests, int32_t tid)
{
    struct rest *rest = place_for(rests, tid);

    if (!rest)
        return NULL;
    if (rest->depth++ == 0)
        atomic_store(&rests->news, 1);
    return rest;
}

bool rests_wait(struct rest *rest, const struct timespec *longest)
{
    uint32_t answers = atomic_load(&rest->answers);
    int32_t tid;

    if (rests_state(rest, &tid) == REST_ON)
        return true;
    sys_futex(&rest->answers, FUTEX_WAIT_PRIVATE, answers, longest);
    return rests_state(rest, &tid) == REST_ON;
}

bool rests_end(struct rests *rests, struct rest *rest)
{
    int32_t tid;

    if (--rest->depth)
        return false;
    rests_state(rest, &tid);
    atomic_store(&rest->holder, holder_of(tid, REST_OVER));
    atomic_store(&rests->news, 1);
    return true;
}

bool rests_hold(struct rests *rests, int32_t tid)
{
    for (int i = 0; i < RESTS_MAX; i++) {
        int32_t its_tid;
        enum rest_state state = rests_state(&rests->list[i], &its_tid);

        if (its_tid == tid && (state == REST_ASKED || state == REST_ON))
            return true;
    }
    return false;
}

bool rests_look(struct rests *rests)
{
    return atomic_load_explicit(&rests->news, memory_order_relaxed) &&
           atomic_exchange(&rests->news, 0);
}

void rests_answer(struct rest *rest, int32_t tid)
{
    uint64_t asked = holder_of(tid, REST_ASKED);

    if (!atomic_compare_exchange_strong(&rest->holder, &asked, holder_of(tid, REST_ON)))
        return;
    atomic_fetch_add(&rest->answers, 1);
    sys_futex(&rest->answers, FUTEX_WAKE_PRIVATE, INT_MAX, NULL);
}

bool rests_drop(struct rest *rest, int32_t tid)
{
    uint64_t over = holder_of(tid, REST_OVER);

    return atomic_compare_exchange_strong(&rest->holder, &over, 0);
}
