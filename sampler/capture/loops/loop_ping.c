#include "loop_ping.h"

#include "../sampler_state.h"

#include "../../include/isoscope/isoscope.h"

#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <time.h>

enum {
    STOP_WAIT_NS = 400 * 1000 * 1000,
    MOVE_LOOK_NS = 5 * 1000 * 1000,
    /* In what post gets: the loop's place, and which loop of that place. */
    PLACE_BITS = 8,
};
static_assert(FEED_LOOPS_MAX <= 1 << PLACE_BITS, "a place has so many bits");

/* Held while a post of the program's runs. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_t pinger;
static _Atomic bool runs, stops;
static _Atomic uint32_t *_Atomic sleeps_at; /* control.pings of the feed that it looks at */

static uintptr_t token_of(const struct isoscope_loop *loop)
{
    return (uintptr_t)atomic_load(&loop->number) << PLACE_BITS | loop_table_place(loop);
}

/* On the loop's thread, some time. */
static void run(void *argument)
{
    uintptr_t token = (uintptr_t)argument;
    struct isoscope_loop *loop = loop_table_next(token & ((1 << PLACE_BITS) - 1), 0);

    if (loop && token_of(loop) == token && loop_place_is_live(&loop->place))
        atomic_store_explicit(
            &loop->place.entry->ping_seen,
            atomic_load_explicit(&loop->place.entry->ping_posted, memory_order_relaxed),
            memory_order_release);
}

/* posted is stored first: run may come before post returns. */
static void answer(struct isoscope_loop *loop)
{
    struct feed_loop *entry = loop->place.entry;
    uint32_t asked = atomic_load(&entry->ping_asked), before = atomic_load(&entry->ping_posted);

    if (asked == before || asked == loop->refused || before != atomic_load(&entry->ping_seen))
        return;
    atomic_store(&entry->ping_posted, asked);
    if (loop->post(run, (void *)token_of(loop), loop->context) == 0)
        return;
    loop->refused = asked;
    atomic_store(&entry->ping_posted, before);
}

static void answer_all(void)
{
    struct isoscope_loop *loop;
    uint32_t from = 0;

    while (!atomic_load(&stops) && (loop = loop_table_next(from, 0))) {
        from = loop_table_place(loop) + 1;
        pthread_mutex_lock(&lock);
        if (loop->post && loop_table_is_live(loop) && loop_table_enter(loop))
            answer(loop);
        pthread_mutex_unlock(&lock);
    }
}

static void answer_and_sleep(_Atomic uint32_t *word)
{
    uint32_t before = atomic_load(word);

    atomic_store(&sleeps_at, word);
    answer_all();
    if (!atomic_load(&stops))
        sys_futex(word, FUTEX_WAIT, before, NULL);
}

static void *ping(void *unused)
{
    const struct timespec moment = { 0, MOVE_LOOK_NS };

    (void)unused;
    pthread_setname_np(pthread_self(), "iso-ping");
    while (!atomic_load(&stops)) {
        _Atomic uint32_t *word = loop_feed_pings();

        if (word)
            answer_and_sleep(word);
        else if (sampler_has_ticks()) /* it moves to another feed */
            sys_call2(SYS_nanosleep, &moment, 0);
        else
            break;
    }
    atomic_store(&sleeps_at, NULL);
    return NULL;
}

/* With the lock. The program's signals are for its own threads. */
static int reach_thread(void)
{
    sigset_t all, mask;
    int error;

    if (atomic_load(&runs))
        return 0;
    atomic_store(&stops, false);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &mask);
    error = pthread_create(&pinger, NULL, ping, NULL);
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    atomic_store(&runs, error == 0);
    return error ? -ISOSCOPE_SYSTEM : 0;
}

static bool is_pinger(void)
{
    return atomic_load(&runs) && pthread_equal(pthread_self(), pinger);
}

int loop_ping_set(struct isoscope_loop *loop, loop_post post, void *context)
{
    bool locks = !is_pinger();
    int error = 0;

    if (locks)
        pthread_mutex_lock(&lock);
    if (!loop_table_is_live(loop))
        error = -ISOSCOPE_NOT_FOUND;
    else if (post)
        error = reach_thread();
    if (!error) {
        loop->post = post;
        loop->context = context;
        if (loop_table_enter(loop))
            atomic_store(&loop->place.entry->has_ping, post != NULL);
    }
    if (locks)
        pthread_mutex_unlock(&lock);
    return error;
}

static void wake(void)
{
    _Atomic uint32_t *word = atomic_load(&sleeps_at);

    if (!word)
        return;
    atomic_fetch_add(word, 1);
    sys_futex(word, FUTEX_WAKE, INT_MAX, NULL);
}

void loop_ping_stop(void)
{
    struct timespec until;

    if (!atomic_load(&runs))
        return;
    atomic_store(&stops, true);
    wake();
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += STOP_WAIT_NS;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    if (is_pinger() || pthread_timedjoin_np(pinger, NULL, &until) != 0)
        pthread_detach(pinger);
    atomic_store(&runs, false);
}

void loop_ping_forget_parent(void)
{
    lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    atomic_store(&runs, false);
    atomic_store(&sleeps_at, NULL);
}
