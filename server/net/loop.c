#include "loop.h"

#include "../../sampler/include/isoscope/isoscope.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

enum { EVENTS_AT_ONCE = 64 };

struct io_watch {
    struct loop *loop;
    struct io_watch *next, **link; /* in loop->watches, then in loop->ending */
    struct io_watch *next_turn;
    const struct io_watch_events *events;
    void *context;
    int fd;
    uint32_t interest;   /* as epoll has it */
    int64_t deadline_ms; /* 0: none */
    bool has_turn, ends;
};

struct loop {
    int epoll;
    struct io_watch *watches, *ending;
    struct io_watch *turns, **turns_end;
    int64_t earliest_ms; /* no deadline is before it; 0: there is none */
};

static int64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000) + now.tv_nsec / 1000000;
}

int loop_new(struct loop **out)
{
    struct loop *loop = calloc(1, sizeof(*loop));

    if (!loop)
        return -ISOSCOPE_NO_MEMORY;
    loop->turns_end = &loop->turns;
    loop->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (loop->epoll < 0) {
        free(loop);
        return -ISOSCOPE_SYSTEM;
    }
    *out = loop;
    return 0;
}

static void link_into(struct io_watch **list, struct io_watch *watch)
{
    watch->next = *list;
    watch->link = list;
    if (watch->next)
        watch->next->link = &watch->next;
    *list = watch;
}

static void unlink_watch(struct io_watch *watch)
{
    *watch->link = watch->next;
    if (watch->next)
        watch->next->link = watch->link;
}

static void forget_turn(struct loop *loop, struct io_watch *watch)
{
    struct io_watch **at = &loop->turns;

    if (!watch->has_turn)
        return;
    while (*at != watch)
        at = &(*at)->next_turn;
    *at = watch->next_turn;
    if (!*at)
        loop->turns_end = at;
}

/* Only here is a watch freed: no call of the same step meets one that is gone. */
static void free_ending(struct loop *loop)
{
    struct io_watch *watch;

    while ((watch = loop->ending)) {
        unlink_watch(watch);
        forget_turn(loop, watch);
        close(watch->fd);
        if (watch->events->ended)
            watch->events->ended(watch->context);
        free(watch);
    }
}

void loop_free(struct loop *loop)
{
    if (!loop)
        return;
    while (loop->watches || loop->ending) {
        if (loop->watches)
            io_watch_end(loop->watches);
        free_ending(loop);
    }
    close(loop->epoll);
    free(loop);
}

/* A duplicate elsewhere would keep a closed descriptor in the epoll: it is taken out by its name.
 */
void io_watch_end(struct io_watch *watch)
{
    if (watch->ends)
        return;
    watch->ends = true;
    epoll_ctl(watch->loop->epoll, EPOLL_CTL_DEL, watch->fd, NULL);
    unlink_watch(watch);
    link_into(&watch->loop->ending, watch);
}

static void follow(struct io_watch *watch, bool goes_on)
{
    if (!goes_on)
        io_watch_end(watch);
}

static void set_interest(struct io_watch *watch, uint32_t interest)
{
    struct epoll_event event = { .events = interest, .data.ptr = watch };

    if (watch->interest == interest || watch->ends)
        return;
    watch->interest = interest;
    epoll_ctl(watch->loop->epoll, EPOLL_CTL_MOD, watch->fd, &event);
}

static void handle(const struct epoll_event *event)
{
    struct io_watch *watch = event->data.ptr;

    if (!watch->ends && event->events & (EPOLLIN | EPOLLHUP | EPOLLERR))
        follow(watch, watch->events->ready(watch->context));
    if (!watch->ends && event->events & watch->interest & EPOLLOUT) {
        set_interest(watch, watch->interest & ~(uint32_t)EPOLLOUT);
        follow(watch, watch->events->turn(watch->context));
    }
}

/* Those that ask for another one meanwhile have it in the next step: nobody waits for long. */
static void take_turns(struct loop *loop)
{
    struct io_watch *watch = loop->turns;

    loop->turns = NULL;
    loop->turns_end = &loop->turns;
    while (watch) {
        struct io_watch *next = watch->next_turn;

        watch->has_turn = false;
        if (!watch->ends)
            follow(watch, watch->events->turn(watch->context));
        watch = next;
    }
}

static void expire(struct io_watch *watch)
{
    watch->deadline_ms = 0;
    follow(watch, watch->events->due && watch->events->due(watch->context));
}

static void look_at_deadlines(struct loop *loop)
{
    struct io_watch *next;
    int64_t now = now_ms();

    if (!loop->earliest_ms || now < loop->earliest_ms)
        return;
    loop->earliest_ms = 0;
    for (struct io_watch *watch = loop->watches; watch; watch = next) {
        next = watch->next;
        if (watch->ends) { /* by one before it: it is in the other list now, so start anew, soon */
            loop->earliest_ms = now;
            return;
        }
        if (watch->deadline_ms && watch->deadline_ms <= now)
            expire(watch);
        if (!watch->ends && watch->deadline_ms &&
            (!loop->earliest_ms || watch->deadline_ms < loop->earliest_ms))
            loop->earliest_ms = watch->deadline_ms;
    }
}

static int wait_ms(const struct loop *loop)
{
    int64_t left;

    if (loop->turns || loop->ending)
        return 0;
    if (!loop->earliest_ms)
        return -1;
    left = loop->earliest_ms - now_ms();
    return left <= 0 ? 0 : left > 3600000 ? 3600000 : (int)left;
}

int loop_step(struct loop *loop)
{
    struct epoll_event events[EVENTS_AT_ONCE];
    int count = epoll_wait(loop->epoll, events, EVENTS_AT_ONCE, wait_ms(loop));

    if (count < 0 && errno != EINTR)
        return -ISOSCOPE_SYSTEM;
    for (int i = 0; i < count; i++)
        handle(&events[i]);
    take_turns(loop);
    look_at_deadlines(loop);
    free_ending(loop);
    return 0;
}

int loop_watch(struct loop *loop, struct io_watch **out, int fd,
               const struct io_watch_events *events, void *context)
{
    struct io_watch *watch = calloc(1, sizeof(*watch));

    if (!watch) {
        close(fd);
        return -ISOSCOPE_NO_MEMORY;
    }
    *watch = (struct io_watch){
        .loop = loop, .events = events, .context = context, .fd = fd, .interest = EPOLLIN
    };

    struct epoll_event event = { .events = watch->interest, .data.ptr = watch };
    if (epoll_ctl(loop->epoll, EPOLL_CTL_ADD, fd, &event) < 0) {
        close(fd);
        free(watch);
        return -ISOSCOPE_SYSTEM;
    }
    link_into(&loop->watches, watch);
    if (out)
        *out = watch;
    return 0;
}

void io_watch_reads(struct io_watch *watch, bool reads)
{
    set_interest(watch, reads ? watch->interest | EPOLLIN : watch->interest & ~(uint32_t)EPOLLIN);
}

void io_watch_turn(struct io_watch *watch)
{
    if (watch->has_turn || watch->ends)
        return;
    watch->has_turn = true;
    watch->next_turn = NULL;
    *watch->loop->turns_end = watch;
    watch->loop->turns_end = &watch->next_turn;
}

void io_watch_await_room(struct io_watch *watch)
{
    set_interest(watch, watch->interest | EPOLLOUT);
}

void io_watch_timeout(struct io_watch *watch, uint32_t milliseconds)
{
    struct loop *loop = watch->loop;

    watch->deadline_ms = milliseconds ? now_ms() + milliseconds : 0;
    if (milliseconds && (!loop->earliest_ms || watch->deadline_ms < loop->earliest_ms))
        loop->earliest_ms = watch->deadline_ms;
}
