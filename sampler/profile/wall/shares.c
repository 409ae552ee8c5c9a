#include "shares.h"

#include <string.h>

static bool next_number(const char **text, uint64_t *out)
{
    const char *at = *text;

    while (*at == ' ')
        at++;
    if (*at < '0' || *at > '9')
        return false;
    for (*out = 0; *at >= '0' && *at <= '9'; at++)
        *out = *out * 10 + (uint64_t)(*at - '0');
    *text = at;
    return true;
}

bool thread_clock_parse(const char *text, struct thread_clock *out)
{
    /* A kernel without these clocks writes zeros; a thread that is there has had a processor. */
    return next_number(&text, &out->run_ns) && next_number(&text, &out->wait_ns) &&
           next_number(&text, &out->slices) && out->slices;
}

static int64_t at_most(uint64_t value, int64_t most)
{
    return value < (uint64_t)most ? (int64_t)value : most;
}

/* Of a program's first thread the clocks are older than the sampler in it. */
void shares_begin(struct shares *shares, const struct thread_clock *clock, int64_t now_ns,
                  int64_t since_ns, bool awake)
{
    int64_t ran_ns = at_most(clock->run_ns, since_ns);
    int64_t waited_ns = at_most(clock->wait_ns, since_ns - ran_ns);

    *shares = (struct shares){
        .clock = *clock,
        .looked_ns = now_ns,
        .since_ns = now_ns,
        .slept_at = awake ? 0 : clock->slices,
        .was_awake = awake,
        .run_ns = clock->run_ns,
        .wait_ns = clock->wait_ns,
        .credit_ns = { ran_ns, waited_ns, since_ns - ran_ns - waited_ns },
    };
}

/* What the clocks will say of the time since they moved last, of a thread that is awake. One that
 * had no slice since it slept waits for its first; one that runs moves its clock at each tick. */
static void guess(const struct shares *shares, int64_t now_ns, int64_t tick_ns, uint64_t *run_ns,
                  uint64_t *wait_ns)
{
    int64_t stood_ns = now_ns - shares->since_ns;
    bool runs = shares->clock.slices != shares->slept_at && stood_ns <= tick_ns;

    *(runs ? run_ns : wait_ns) += (uint64_t)stood_ns;
}

void shares_look(struct shares *shares, const struct thread_clock *clock, int64_t now_ns,
                 int64_t tick_ns, bool awake)
{
    uint64_t run_ns = clock->run_ns, wait_ns = clock->wait_ns;
    int64_t ran_ns, waited_ns;

    if (!thread_clock_stands(&shares->clock, clock))
        shares->since_ns = now_ns;
    else if (!shares->was_awake)
        shares->since_ns = shares->looked_ns;
    shares->clock = *clock;
    if (awake)
        guess(shares, now_ns, tick_ns, &run_ns, &wait_ns);
    else
        shares->slept_at = clock->slices;
    ran_ns = (int64_t)(run_ns - shares->run_ns);
    waited_ns = (int64_t)(wait_ns - shares->wait_ns);
    shares->credit_ns[SHARE_RUN] += ran_ns;
    shares->credit_ns[SHARE_WAIT] += waited_ns;
    shares->credit_ns[SHARE_SLEEP] += now_ns - shares->looked_ns - ran_ns - waited_ns;
    shares->looked_ns = now_ns;
    shares->was_awake = awake;
    shares->run_ns = run_ns;
    shares->wait_ns = wait_ns;
}

/* What is seen comes first, by up to a round. */
static enum share largest(const struct shares *shares, int64_t period_ns, bool awake)
{
    enum share best = SHARE_RUN;
    int64_t most_ns = INT64_MIN;

    for (enum share share = SHARE_RUN; share < SHARE_COUNT; share++) {
        bool seen = (share == SHARE_SLEEP) != awake;
        int64_t worth_ns = shares->credit_ns[share] + (seen ? period_ns : 0);

        if (worth_ns <= most_ns)
            continue;
        most_ns = worth_ns;
        best = share;
    }
    return best;
}

/* As due, in time: rounds come a little early, or late. */
static int64_t due(const struct shares *shares, int64_t period_ns)
{
    int64_t due_ns = period_ns / 2;

    for (enum share share = SHARE_RUN; share < SHARE_COUNT; share++)
        due_ns += shares->credit_ns[share];
    return due_ns;
}

void shares_take(struct shares *shares, int64_t period_ns, uint32_t most, bool awake,
                 uint32_t counts[SHARE_COUNT])
{
    int64_t due_ns = due(shares, period_ns);

    memset(counts, 0, SHARE_COUNT * sizeof(counts[0]));
    for (; due_ns >= period_ns && most; due_ns -= period_ns, most--) {
        enum share share = largest(shares, period_ns, awake);

        shares->credit_ns[share] -= period_ns;
        counts[share]++;
    }
}

uint64_t shares_drop(struct shares *shares, int64_t period_ns)
{
    int64_t due_ns = due(shares, period_ns);

    memset(shares->credit_ns, 0, sizeof(shares->credit_ns));
    return due_ns > 0 ? (uint64_t)(due_ns / period_ns) : 0;
}

void shares_give_back(struct shares *shares, enum share share, uint32_t rounds, int64_t period_ns)
{
    shares->credit_ns[share] += rounds * period_ns;
}
